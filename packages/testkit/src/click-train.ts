import { ffmpeg } from './media-tools';

/** Sample rate for drawing and finding clicks, high enough that an error of one sample is negligible. */
const RATE = 48_000;
const CLICK_SAMPLES = 96;
/** Relative to the loudest sample. Artefacts of lossy coding around a click are quieter. */
const LOUD = 0.4;
/** Loud samples closer than this belong to one click. */
const APART_SECONDS = 0.05;

export interface ClickTrainOptions {
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
