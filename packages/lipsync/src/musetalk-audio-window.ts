/** Encoder steps per second of audio. */
const STEPS_PER_SECOND = 50;
const STEPS_PER_FRAME = 2;
/** Steps before the first step of the frame itself: 80 ms. */
const STEPS_BEFORE = 4;
/** The window: 80 ms before the frame's start to 120 ms after it. */
export const WINDOW_STEPS = 10;

/** The part of a window that lies inside the recording: steps [from, to), the first at place `place` of the window. */
export interface AudioWindow {
  readonly from: number;
  readonly to: number;
  readonly place: number;
}

/** Steps that carry sound; what the encoder says about its zero padding beyond them is not used. */
export function soundingSteps(samples: number, sampleRate: number): number {
  return Math.floor((samples / sampleRate) * STEPS_PER_SECOND);
}

/**
 * MuseTalk's audio window of output frame `frame` (25 per second): steps [2·frame − 4, 2·frame + 6) of a recording of
 * `steps` steps. The places before and after the recording are zeros.
 */
export function audioWindow(frame: number, steps: number): AudioWindow {
  const first = frame * STEPS_PER_FRAME - STEPS_BEFORE;
  const from = Math.min(Math.max(first, 0), steps);
  const to = Math.min(Math.max(first + WINDOW_STEPS, from), steps);
  return { from, to, place: Math.min(from - first, WINDOW_STEPS) };
}
