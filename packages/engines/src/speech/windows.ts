/** Encoder steps per second of audio. */
const STEPS_PER_SECOND = 50;
const STEPS_PER_FRAME = 2;
/** Steps before the first step of the frame itself: 80 ms. */
const STEPS_BEFORE = 4;
/** The window: 80 ms before the frame's start to 120 ms after it. */
export const WINDOW_STEPS = 10;

/** Steps that contain sound. The encoder's output for the padding after them is not used. */
export function soundingSteps(samples: number, sampleRate: number): number {
  // Multiply first: for 9 280 samples at 16 kHz the quotient times 50 is slightly below 29.
  return Math.floor((samples * STEPS_PER_SECOND) / sampleRate);
}

/**
 * The content of a window beyond the recording: zeros (MuseTalk), or the recording's first or last step repeated
 * (LatentSync, HighSync).
 */
export type WindowEdges = 'zeros' | 'repeat';

/** The part of a recording that some windows cover: steps [from, to); empty if they are beyond it. */
interface StepRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The step of the recording at index `place` (0 … 9) of the window of output frame `frame` (25 per second); −1 for
 * zeros.
 */
export function windowStep(frame: number, place: number, steps: number, edges: WindowEdges): number {
  const step = frame * STEPS_PER_FRAME - STEPS_BEFORE + place;
  if (step >= 0 && step < steps) return step;
  return edges === 'zeros' || steps === 0 ? -1 : Math.min(Math.max(step, 0), steps - 1);
}

/** The steps that the windows of output frames `first` to `last` (inclusive) use. */
export function windowRange(first: number, last: number, steps: number, edges: WindowEdges): StepRange {
  const repeat = edges === 'repeat' && steps > 0 ? 1 : 0;
  const from = Math.min(Math.max(first * STEPS_PER_FRAME - STEPS_BEFORE, 0), steps - repeat);
  const to = last * STEPS_PER_FRAME - STEPS_BEFORE + WINDOW_STEPS;
  return { from, to: Math.min(Math.max(to, from + repeat), steps) };
}

/**
 * The fixed sine/cosine position code [length, width], row-major: even columns sin(pos·w), odd columns cos(pos·w) with
 * w = 10000^(−2k/width) for column pair k.
 */
export function positionalEncoding(length: number, width: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(length * width);
  for (let position = 0; position < length; position++) {
    for (let column = 0; column < width; column++) {
      const pair = column - (column % 2);
      const angle = position * Math.exp((-pair * Math.log(10_000)) / width);
      out[position * width + column] = column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }
  }
  return out;
}
