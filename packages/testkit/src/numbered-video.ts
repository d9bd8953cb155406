import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg } from './media-tools';

/** Bits of the number that every picture carries, one block of luma each, from the left at the top. */
const NUMBER_BITS = 14;
const BLOCK_WIDTH = 12;
const BLOCK_HEIGHT = 16;
/** Between them luma is neither black nor white, whatever the range: a blend of two pictures, or another picture. */
const BLACK_MAX = 80;
const WHITE_MIN = 175;

export interface NumberedVideoOptions {
  readonly frames: number;
  /** "25", "30000/1001", … 25 when absent. */
  readonly rate?: string;
  /** Instead of a constant rate: picture n appears after `variableRateSeconds(n)`. */
  readonly variableRate?: boolean;
  /** At least 168, so that the number fits; 192 when absent. */
  readonly width?: number;
  /** At least 16; 64 when absent. */
  readonly height?: number;
  /** Further filters behind the numbers. */
  readonly filters?: string;
  /** Encoder and muxer arguments; H.264 with long groups of pictures and B-frames when absent. */
  readonly encoder?: readonly string[];
}

/**
 * Picture times as a telephone writes them: 29.97 a second on average, each up to 22 ms late, and a pause of 0.4 s
 * before picture 50.
 */
export function variableRateSeconds(n: number): number {
  return (Math.floor((n * 1001) / 30) + ((n * n * 7) % 23) + (n >= 50 ? 400 : 0)) / 1000;
}
const VARIABLE_RATE = "settb=1/1000,setpts='floor(N*1001/30)+mod(N*N*7,23)+400*gte(N,50)'";

const LONG_GROUPS = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-g', '90', '-bf', '3'];

/** Writes a video whose every source picture carries its number as black and white blocks that survive coding. */
export async function makeNumberedVideo(path: string, options: NumberedVideoOptions): Promise<void> {
  const { frames, width = 192, height = 64, encoder = LONG_GROUPS } = options;
  const variable = options.variableRate === true;
  const raw = ['-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', `${width}x${height}`];
  const filters = ['format=yuv420p', variable ? VARIABLE_RATE : 'null', options.filters ?? 'null'];
  await ffmpeg(
    [
      ...[...raw, '-framerate', options.rate ?? '25', '-i', 'pipe:0'],
      ...['-vf', filters.join(','), '-fps_mode', 'passthrough'],
      // Else the encoder rounds times to the rate that the pictures came with.
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

/** The number in a picture of `makeNumberedVideo`, from its luma plane; -1 when there is none to be read. */
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
 * The numbers of all pictures of several files as they are stored, none dropped or repeated; `size` is the shown one.
 * One process reads them all, because starting one costs more than a short file does.
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

/** Writes a numbered video that is stored turned and says by how many degrees players have to turn it clockwise. */
export async function makeTurnedVideo(
  path: string,
  clockwise: 90 | 180 | 270,
  options: NumberedVideoOptions,
): Promise<void> {
  const turnBack = { 90: 'transpose=cclock', 180: 'hflip,vflip', 270: 'transpose=clock' }[clockwise];
  const stored = `${path}.stored.mp4`;
  const filters = options.filters === undefined ? turnBack : `${options.filters},${turnBack}`;
  await makeNumberedVideo(stored, { ...options, filters });
  await sayTurned(stored, path, clockwise);
}

/** Copies a video and says by how many degrees players have to turn it clockwise. */
export async function sayTurned(stored: string, path: string, clockwise: 90 | 180 | 270): Promise<void> {
  // The option of newer versions, else the tag that older ones turn into the same matrix; both count counter-clockwise.
  await ffmpeg(['-display_rotation', String(-clockwise), '-i', stored, '-c', 'copy', path]).catch(() =>
    ffmpeg(['-i', stored, '-c', 'copy', '-metadata:s:v:0', `rotate=${360 - clockwise}`, path]),
  );
}
