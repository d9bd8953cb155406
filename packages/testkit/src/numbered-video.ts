import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg } from './media-tools';

/** Bits of the number in every picture, each a block of luma, from the top left to the right. */
const NUMBER_BITS = 14;
const BLOCK_WIDTH = 12;
const BLOCK_HEIGHT = 16;
/** Luma between these is neither black nor white in any range: a blend of two pictures, or another picture. */
const BLACK_MAX = 80;
const WHITE_MIN = 175;

export interface NumberedVideoOptions {
  readonly frames: number;
  /** "25", "30000/1001", …; 25 by default. */
  readonly rate?: string;
  /** Instead of a constant rate: picture n appears at `variableRateSeconds(n)`. */
  readonly variableRate?: boolean;
  /** At least 168, so that the number fits; 192 by default. */
  readonly width?: number;
  /** At least 16; 64 by default. */
  readonly height?: number;
  /** Further filters after the numbers. */
  readonly filters?: string;
  /** Encoder and muxer arguments; by default H.264 with long groups of pictures and B-frames. */
  readonly encoder?: readonly string[];
}

/**
 * Picture times like those of a phone: 29.97 a second on average, each up to 22 ms late, and a pause of 0.4 s before
 * picture 50.
 */
export function variableRateSeconds(n: number): number {
  return (Math.floor((n * 1001) / 30) + ((n * n * 7) % 23) + (n >= 50 ? 400 : 0)) / 1000;
}
const VARIABLE_RATE = "settb=1/1000,setpts='floor(N*1001/30)+mod(N*N*7,23)+400*gte(N,50)'";

const LONG_GROUPS = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-g', '90', '-bf', '3'];

/** Writes a video in which every picture contains its number as black and white blocks that survive coding. */
export async function makeNumberedVideo(path: string, options: NumberedVideoOptions): Promise<void> {
  const { frames, width = 192, height = 64, encoder = LONG_GROUPS } = options;
  const variable = options.variableRate === true;
  const raw = ['-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', `${width}x${height}`];
  const filters = ['format=yuv420p', variable ? VARIABLE_RATE : 'null', options.filters ?? 'null'];
  await ffmpeg(
    [
      ...[...raw, '-framerate', options.rate ?? '25', '-i', 'pipe:0'],
      ...['-vf', filters.join(','), '-fps_mode', 'passthrough'],
      // Otherwise the encoder would round times to the rate of the source.
      ...(variable ? ['-enc_time_base', '1:1000'] : []),
      ...[...encoder, path],
    ],
    numberedPictures(frames, width, height),
  );
}

function* numberedPictures(frames: number, width: number, height: number): Generator<Uint8Array> {
  const blackRow = new Uint8Array(width);
  for (let number = 0; number < frames; number += 1) {
    const row = blackRow.slice();
    for (let bit = 0; bit < NUMBER_BITS; bit += 1)
      if (Math.floor(number / 2 ** bit) % 2 === 1) row.fill(255, bit * BLOCK_WIDTH, (bit + 1) * BLOCK_WIDTH);
    const picture = new Uint8Array(width * height);
    for (let y = 0; y < height; y += 1) picture.set(y < BLOCK_HEIGHT ? row : blackRow, y * width);
    yield picture;
  }
}

/** Reads the number in a picture of `makeNumberedVideo` from its luma plane; -1 if it is not readable. */
export function readFrameNumber(luma: Uint8Array, width: number): number {
  let value = 0;
  for (let bit = 0; bit < NUMBER_BITS; bit += 1) {
    const sample = luma[(BLOCK_HEIGHT / 2) * width + bit * BLOCK_WIDTH + BLOCK_WIDTH / 2] ?? BLACK_MAX;
    if (sample >= WHITE_MIN) value += 2 ** bit;
    else if (sample >= BLACK_MAX) return -1;
  }
  return value;
}

/**
 * The numbers of all pictures of several files as stored, with none dropped or repeated. `size` is the displayed one.
 * One process reads them all, because starting one costs more than decoding a short file.
 */
export async function frameNumbers(
  paths: readonly string[],
  size: { width: number; height: number },
): Promise<number[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'frame-numbers-'));
  const raw = (i: number): string => join(folder, `${i}.gray`);
  const gray = ['-fps_mode', 'passthrough', '-pix_fmt', 'gray', '-f', 'rawvideo'];
  try {
    const inputs = paths.flatMap((path) => ['-i', path]);
    await ffmpeg([...inputs, ...paths.flatMap((_, i) => ['-map', `${i}:V:0`, ...gray, raw(i)])]);
    return await Promise.all(paths.map(async (_, i) => numbersIn(await readFile(raw(i)), size)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function numbersIn(pictures: Buffer, { width, height }: { width: number; height: number }): number[] {
  const bytes = width * height;
  if (pictures.length % bytes !== 0) throw new Error(`the pictures are not ${width}x${height}`);
  return Array.from({ length: pictures.length / bytes }, (_, i) =>
    readFrameNumber(pictures.subarray(i * bytes, (i + 1) * bytes), width),
  );
}

/**
 * Writes a numbered video that is stored rotated, with the number of degrees by which players must rotate it clockwise.
 */
export async function makeTurnedVideo(
  path: string,
  clockwise: 90 | 180 | 270,
  options: NumberedVideoOptions,
): Promise<void> {
  const turnBack = { 90: 'transpose=cclock', 180: 'hflip,vflip', 270: 'transpose=clock' }[clockwise];
  const stored = `${path}.stored.mp4`;
  const filters = options.filters === undefined ? turnBack : `${options.filters},${turnBack}`;
  await makeNumberedVideo(stored, { ...options, filters });
  // Newer versions have an option, older ones a tag that gives the same matrix. Both count counter-clockwise.
  await ffmpeg(['-display_rotation', String(-clockwise), '-i', stored, '-c', 'copy', path]).catch(() =>
    ffmpeg(['-i', stored, '-c', 'copy', '-metadata:s:v:0', `rotate=${360 - clockwise}`, path]),
  );
}
