/** Encoder steps per second of audio. */
const STEPS_PER_SECOND = 50;
/** The window: from 100 ms before the middle of a frame's time on screen to 100 ms after it. */
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

/** Where a window begins: `part` (0 … 1) of a step after a step of the recording, which may be before its first. */
interface WindowStart {
  readonly step: number;
  readonly part: number;
}

/** Parts of a step that floating point leaves where there are none. */
const ROUNDING = 1e-6;

/** Where the window around a second begins. The middle of every frame at 25 a second is between two whole steps. */
export function windowStart(seconds: number): WindowStart {
  const start = seconds * STEPS_PER_SECOND - WINDOW_STEPS / 2;
  const step = Math.floor(start + ROUNDING);
  return { step, part: start - step < ROUNDING ? 0 : start - step };
}

/** The step of the recording that stands for a step of a window; −1 for zeros. */
export function recordedStep(step: number, steps: number, edges: WindowEdges): number {
  if (step >= 0 && step < steps) return step;
  return edges === 'zeros' || steps === 0 ? -1 : Math.min(Math.max(step, 0), steps - 1);
}

/** The part of a recording that some windows cover: steps [from, to); empty if they are beyond it. */
interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** The steps that the windows around the seconds from `first` to `last` use. */
export function windowRange(first: number, last: number, steps: number, edges: WindowEdges): StepRange {
  const repeat = edges === 'repeat' && steps > 0 ? 1 : 0;
  const from = Math.min(Math.max(windowStart(first).step, 0), steps - repeat);
  const { step, part } = windowStart(last);
  const to = step + WINDOW_STEPS + (part > 0 ? 1 : 0);
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
