import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Bits of the frame number that every numbered picture carries, one block of luma each. */
const NUMBER_BITS = 12;
const BLOCK_PIXELS = 16;
/** A command that never ends must not hang a test run. */
const DEADLINE_MS = 120_000;

/** Runs the machine's ffmpeg; for making test files only, so without the guards of production code. */
export async function ffmpeg(args: readonly string[]): Promise<void> {
  await run(process.env['FFMPEG_BIN'] ?? 'ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
}

export interface NumberedVideoOptions {
  readonly frames: number;
  /** "25", "30000/1001", … 25 when absent. */
  readonly rate?: string;
  readonly width?: number;
  readonly height?: number;
  /** Further filters behind the numbers, e.g. a `setpts` that makes the rate variable. */
  readonly filters?: string;
  /** Encoder and muxer arguments; H.264 with long groups of pictures and B-frames when absent. */
  readonly encoder?: readonly string[];
}

const LONG_GROUPS = [
  '-c:v',
  'libx264',
  '-preset',
  'veryfast',
  '-crf',
  '20',
  '-g',
  '90',
  '-bf',
  '3',
  '-pix_fmt',
  'yuv420p',
];

/** Writes a video whose every source picture carries its number as black and white blocks that survive coding. */
export async function makeNumberedVideo(path: string, options: NumberedVideoOptions): Promise<void> {
  const size = `${options.width ?? 192}x${options.height ?? 64}`;
  const blocks = `if(mod(floor(N/pow(2,floor(X/${BLOCK_PIXELS}))),2),235,16)`;
  const filters = [
    `geq=lum='${blocks}':cb=128:cr=128`,
    ...(options.filters === undefined ? [] : [options.filters]),
  ];
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `color=s=${size}:r=${options.rate ?? '25'}`, '-vf', filters.join(',')],
    ...[
      '-frames:v',
      String(options.frames),
      '-fps_mode',
      'passthrough',
      ...(options.encoder ?? LONG_GROUPS),
      path,
    ],
  ]);
}

/** The number in a picture of `makeNumberedVideo`, from its luma plane. */
export function readFrameNumber(luma: Uint8Array, width: number): number {
  let value = 0;
  for (let bit = 0; bit < NUMBER_BITS; bit += 1) {
    const middle = (BLOCK_PIXELS / 2) * width + bit * BLOCK_PIXELS + BLOCK_PIXELS / 2;
    if ((luma[middle] ?? 0) > 125) value += 2 ** bit;
  }
  return value;
}

export interface ToneOptions {
  readonly seconds: number;
  /** Encoder and muxer arguments; what the file's name implies when absent. */
  readonly encoder?: readonly string[];
  readonly sampleRate?: number;
}

/** Writes a 440 Hz tone; the container follows from the file name. */
export async function makeTone(path: string, options: ToneOptions): Promise<void> {
  const source = `sine=frequency=440:sample_rate=${options.sampleRate ?? 44_100}:duration=${options.seconds}`;
  await ffmpeg(['-f', 'lavfi', '-i', source, ...(options.encoder ?? []), path]);
}
