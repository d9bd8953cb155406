/** Encoder steps per second of audio. */
const STEPS_PER_SECOND = 50;
const STEPS_PER_FRAME = 2;
/** Steps before the first step of the frame itself: 80 ms. */
const STEPS_BEFORE = 4;
/** The window: 80 ms before the frame's start to 120 ms after it. */
export const WINDOW_STEPS = 10;

/** Steps that carry sound; what the encoder says about its padding beyond them is not used. */
export function soundingSteps(samples: number, sampleRate: number): number {
  // Multiplied first: of 9 280 samples at 16 kHz the quotient times 50 is a hair below 29.
  return Math.floor((samples * STEPS_PER_SECOND) / sampleRate);
}

/**
 * What stands in a window where it reaches beyond the recording: zeros (MuseTalk), or the recording's first or last
 * step once more (LatentSync, HighSync).
 */
export type WindowEdges = 'zeros' | 'repeat';

/** The part of a recording that some windows lie in: steps [from, to); empty when they lie beyond it. */
export interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** The step of the recording at place `place` (0 … 9) of the window of output frame `frame` (25 per second); −1: zeros. */
export function windowStep(frame: number, place: number, steps: number, edges: WindowEdges): number {
  const step = frame * STEPS_PER_FRAME - STEPS_BEFORE + place;
  if (step >= 0 && step < steps) return step;
  return edges === 'zeros' || steps === 0 ? -1 : Math.min(Math.max(step, 0), steps - 1);
}

/** The steps that the windows of output frames `first` to `last` (included) are made of. */
export function windowRange(first: number, last: number, steps: number, edges: WindowEdges): StepRange {
  const repeat = edges === 'repeat' && steps > 0 ? 1 : 0;
  const from = Math.min(Math.max(first * STEPS_PER_FRAME - STEPS_BEFORE, 0), steps - repeat);
  const to = last * STEPS_PER_FRAME - STEPS_BEFORE + WINDOW_STEPS;
  return { from, to: Math.min(Math.max(to, from + repeat), steps) };
}
