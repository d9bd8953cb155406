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
  /** At least 168, so that the number fits; 192 when absent. */
  readonly width?: number;
  /** At least 16; 64 when absent. */
  readonly height?: number;
  /** Further filters behind the numbers, e.g. a `setpts` that makes the rate variable. */
  readonly filters?: string;
  /** Encoder and muxer arguments; H.264 with long groups of pictures and B-frames when absent. */
  readonly encoder?: readonly string[];
}

const LONG_GROUPS = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-g', '90', '-bf', '3'];

/** Writes a video whose every source picture carries its number as black and white blocks that survive coding. */
export async function makeNumberedVideo(path: string, options: NumberedVideoOptions): Promise<void> {
  const { frames, width = 192, height = 64, filters, encoder = LONG_GROUPS } = options;
  const raw = ['-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', `${width}x${height}`];
  const chain = ['format=yuv420p', ...(filters === undefined ? [] : [filters])].join(',');
  await ffmpeg(
    [
      ...[...raw, '-framerate', options.rate ?? '25', '-i', 'pipe:0'],
      ...['-vf', chain, '-fps_mode', 'passthrough', ...encoder, path],
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

/** The numbers of all pictures of a file as they are stored, none dropped or repeated; `size` is the shown one. */
export async function frameNumbers(path: string, size: { width: number; height: number }): Promise<number[]> {
  const gray = ['-map', '0:V:0', '-fps_mode', 'passthrough', '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
  const pictures = await ffmpeg(['-i', path, ...gray]);
  const bytes = size.width * size.height;
  if (pictures.length % bytes !== 0)
    throw new Error(`the pictures of ${path} are not ${size.width}x${size.height}`);
  return Array.from({ length: pictures.length / bytes }, (_, i) =>
    readFrameNumber(pictures.subarray(i * bytes, (i + 1) * bytes), size.width),
  );
}

/**
 * Picture times as a telephone writes them: 29.97 a second on average, each up to 22 ms late, and a pause of 0.4 s
 * before picture 50. `filter` is for `makeNumberedVideo`, `milliseconds` says when picture n appears.
 */
export const VARIABLE_RATE = {
  filter: "settb=1/1000,setpts='floor(N*1001/30)+mod(N*N*7,23)+400*gte(N,50)'",
  milliseconds: (n: number): number => Math.floor((n * 1001) / 30) + ((n * n * 7) % 23) + (n >= 50 ? 400 : 0),
} as const;

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
  // The option of newer versions, else the tag that older ones turn into the same matrix.
  await ffmpeg(['-display_rotation', String(-clockwise), '-i', stored, '-c', 'copy', path]).catch(() =>
    ffmpeg(['-i', stored, '-c', 'copy', '-metadata:s:v:0', `rotate=${clockwise}`, path]),
  );
}
