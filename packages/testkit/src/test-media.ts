import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/**
 * Bits of the number that every picture carries, one block of luma each, from the left at the top. They are those of its
 * Gray code: the lowest bit of a plain number would only tell the fields of interlaced video apart, and so pass for fine
 * detail of a still picture.
 */
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
    const code = number ^ (number >> 1);
    for (let bit = 0; bit < NUMBER_BITS; bit += 1)
      if (((code >> bit) & 1) === 1) row.fill(255, bit * BLOCK_WIDTH, (bit + 1) * BLOCK_WIDTH);
    const picture = new Uint8Array(width * height);
    for (let y = 0; y < height; y += 1) picture.set(y < BLOCK_HEIGHT ? row : blackRow, y * width);
    yield picture;
  }
}

/** The number in a picture of `makeNumberedVideo`, from its luma plane; -1 when there is none to be read. */
export function readFrameNumber(luma: Uint8Array, width: number): number {
  let number = 0;
  let isOdd = 0;
  for (let bit = NUMBER_BITS - 1; bit >= 0; bit -= 1) {
    const sample = luma[(BLOCK_HEIGHT / 2) * width + bit * BLOCK_WIDTH + BLOCK_WIDTH / 2] ?? BLACK_MAX;
    if (sample >= WHITE_MIN) isOdd = 1 - isOdd;
    else if (sample >= BLACK_MAX) return -1;
    number = 2 * number + isOdd;
  }
  return number;
}

/** The numbers of all pictures of a file as they are stored, none dropped or repeated; `size` is the shown one. */
export async function frameNumbers(
  path: string,
  { width, height }: { width: number; height: number },
): Promise<number[]> {
  const gray = ['-fps_mode', 'passthrough', '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
  const pictures = await ffmpeg(['-i', path, '-map', '0:V:0', ...gray]);
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

/** Sample rate for drawing and finding clicks, high enough that an error of one sample is negligible. */
const RATE = 48_000;
const CLICK_SAMPLES = 96;
/** Relative to the loudest sample. Artifacts of lossy coding around a click are quieter. */
const LOUD = 0.4;
/** Loud samples closer than this belong to one click. */
const APART_SECONDS = 0.05;

interface ClickTrainOptions {
  readonly seconds: number;
  /** Start times in seconds of the clicks, which last 2 ms. */
  readonly clicks: readonly number[];
  readonly sampleRate?: number;
  readonly channels?: number;
  /** Further output arguments, encoder and muxer; by default those implied by the file name. */
  readonly encoder?: readonly string[];
}

/** Writes silence with clicks at known times, the same in all channels. The file name determines the container. */
export async function makeClickTrain(path: string, options: ClickTrainOptions): Promise<void> {
  const { seconds, clicks, sampleRate = RATE, channels = 1, encoder = [] } = options;
  const samples = new Int16Array(Math.round(seconds * RATE));
  for (const click of clicks) {
    const first = Math.round(click * RATE);
    for (let i = 0; i < CLICK_SAMPLES && first + i < samples.length; i += 1)
      samples[first + i] = Math.round(24_000 * Math.sin((2 * Math.PI * 1500 * i) / RATE));
  }
  const raw = ['-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', 'pipe:0'];
  const sound = ['-ar', String(sampleRate), '-ac', String(channels)];
  await ffmpeg([...raw, ...sound, ...encoder, path], [new Uint8Array(samples.buffer)]);
}

/** Seconds from the beginning of the file's sound, as players play it, to the middle of each click. */
export async function findClicks(path: string): Promise<number[]> {
  // Takes into account that a container may begin its sound late, or with padding to skip.
  const play = ['-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(RATE)];
  const bytes = await ffmpeg(['-i', path, ...play, '-f', 'f32le', 'pipe:1']);
  return clicksIn(new Float32Array(new Uint8Array(bytes).buffer), RATE);
}

/** Seconds to the middle of each click in decoded sound. */
export function clicksIn(samples: Float32Array, sampleRate: number): number[] {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const found: { first: number; last: number }[] = [];
  samples.forEach((sample, i) => {
    if (peak === 0 || Math.abs(sample) < LOUD * peak) return;
    const current = found.at(-1);
    if (current !== undefined && i - current.last < APART_SECONDS * sampleRate) current.last = i;
    else found.push({ first: i, last: i });
  });
  return found.map(({ first, last }) => (first + last) / 2 / sampleRate);
}

/**
 * The painted face of the samples: 640 × 640 at 25 fps; the face itself is about 205 × 215 pixels around (332, 320). Its
 * mouth is closed in the first 35 frames.
 */
const SAMPLE_FACE = join(__dirname, '../../../samples/face.mp4');

interface FaceVideoOptions {
  readonly frames: number;
  /** A filter chain for the sample, or a graph with the sample as its only input and one output. */
  readonly filters: string;
}

/** Writes an almost lossless video of the painted face after the filters: scaled, moved, doubled, hidden. */
export async function makeFaceVideo(path: string, { frames, filters }: FaceVideoOptions): Promise<void> {
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '8', '-pix_fmt', 'yuv420p'];
  const graph = ['-filter_complex', filters, '-frames:v', String(frames)];
  await ffmpeg(['-i', SAMPLE_FACE, ...graph, ...encoder, path]);
}

interface ToneOptions {
  readonly seconds: number;
  /** Encoder and muxer arguments; by default those implied by the file name. */
  readonly encoder?: readonly string[];
  readonly sampleRate?: number;
}

/** Writes a 440 Hz tone. The file name determines the container. */
export async function makeTone(path: string, options: ToneOptions): Promise<void> {
  const source = `sine=frequency=440:sample_rate=${options.sampleRate ?? 44_100}:duration=${options.seconds}`;
  await ffmpeg(['-f', 'lavfi', '-i', source, ...(options.encoder ?? []), path]);
}

const run = promisify(execFile);

/** A command that never ends must not hang a test run. */
const LIMITS = { timeout: 120_000, killSignal: 'SIGKILL', maxBuffer: 512 * 1024 * 1024 } as const;

/**
 * Runs the machine's ffmpeg. Only for making and reading test files, so without the safeguards of production code.
 * `input` goes to its standard input. Returns its standard output.
 */
export async function ffmpeg(args: readonly string[], input?: Iterable<Uint8Array>): Promise<Buffer> {
  const program = process.env['FFMPEG_BIN'] ?? 'ffmpeg';
  const silent = input === undefined ? ['-nostdin'] : [];
  const running = run(program, [...silent, '-v', 'error', '-y', ...args], { ...LIMITS, encoding: 'buffer' });
  const { stdin } = running.child;
  // If ffmpeg stops reading early, its own message says why, and that is the rejection.
  if (input !== undefined && stdin !== null)
    await pipeline(Readable.from(input), stdin).catch(() => undefined);
  return (await running).stdout;
}

/** Returns the output of the machine's ffprobe. */
export async function ffprobe(args: readonly string[]): Promise<string> {
  return (await run(process.env['FFPROBE_BIN'] ?? 'ffprobe', ['-v', 'error', ...args], LIMITS)).stdout;
}
