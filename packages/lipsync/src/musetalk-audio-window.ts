/** Encoder steps per second of audio. */
const STEPS_PER_SECOND = 50;
const STEPS_PER_FRAME = 2;
/** Steps before the first step of the frame itself: 80 ms. */
const STEPS_BEFORE = 4;
/** The window: 80 ms before the frame's start to 120 ms after it. */
export const WINDOW_STEPS = 10;

/** Features of the audio encoder: `steps` steps of 20 ms with `stepSize` values each, row-major. */
export interface AudioSteps {
  readonly steps: number;
  readonly stepSize: number;
  readonly data: Float32Array;
}

/** Steps that carry sound; what the encoder says about its zero padding beyond them is not used. */
export function soundingSteps(samples: number, sampleRate: number): number {
  return Math.floor((samples / sampleRate) * STEPS_PER_SECOND);
}

/**
 * Writes MuseTalk's audio window of output frame `frame` (25 per second) to `target` at `offset`: steps
 * [2·frame − 4, 2·frame + 6), with zeros outside the recording.
 */
export function readAudioWindow(
  audio: AudioSteps,
  frame: number,
  target: Float32Array,
  offset: number,
): void {
  const { steps, stepSize, data } = audio;
  const first = frame * STEPS_PER_FRAME - STEPS_BEFORE;
  const from = Math.min(Math.max(first, 0), steps);
  const to = Math.min(Math.max(first + WINDOW_STEPS, 0), steps);
  target.fill(0, offset, offset + WINDOW_STEPS * stepSize);
  if (to > from)
    target.set(data.subarray(from * stepSize, to * stepSize), offset + (from - first) * stepSize);
}
