/** A fraction with positive integer parts. */
export interface Rational {
  readonly num: number;
  readonly den: number;
}

/** When the frames of a clip are on screen. Constant and variable rates are told in the same way. */
export interface Clock {
  /** Ticks per second: a whole number up to `FINEST_TIMESCALE`. */
  readonly timescale: number;
  /**
   * The tick at which each frame appears, rising from 0, and after them the tick at which the last frame disappears: one
   * value more than there are frames.
   */
  readonly ticks: Uint32Array;
}

/** Microseconds: finer than any difference that can be seen or heard, and five minutes of them fit into 32 bits. */
export const FINEST_TIMESCALE = 1_000_000;

/** The clock of this many frames at a constant rate in frames per second. 30000/1001 is kept exactly. */
export function constantClock({ num, den }: Rational, frames: number): Clock {
  return { timescale: num, ticks: Uint32Array.from({ length: frames + 1 }, (_, frame) => frame * den) };
}

export function framesOf({ ticks }: Clock): number {
  return ticks.length - 1;
}

/** The second at which a frame appears; for the frame after the last one, the end. */
export function secondsAt({ timescale, ticks }: Clock, frame: number): number {
  return (ticks[frame] ?? NaN) / timescale;
}

/** The second in the middle of a frame's time on screen. */
export function middleOf({ timescale, ticks }: Clock, frame: number): number {
  return ((ticks[frame] ?? NaN) + (ticks[frame + 1] ?? NaN)) / (2 * timescale);
}

/** The second at which the last frame disappears. */
export function endOf(clock: Clock): number {
  return secondsAt(clock, framesOf(clock));
}

/** The frame on screen at a second; the first one before its time, and the last one after it. */
export function frameAt(clock: Clock, seconds: number): number {
  return frameAtTick(clock, Math.floor(seconds * clock.timescale + ROUNDING));
}

/** Absorbs what floating point takes from a product that is a whole number of ticks. */
const ROUNDING = 1e-6;

/** The frame on screen at a tick, likewise. */
export function frameAtTick({ ticks }: Clock, tick: number): number {
  let low = 0;
  let high = ticks.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ticks[middle] ?? 0) <= tick) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The median time between two frames, in ticks. At a constant rate it is the time between any two. */
export function usualStep({ ticks }: Clock): number {
  const steps = ticks.slice(1).map((tick, frame) => tick - (ticks[frame] ?? 0));
  return steps.sort()[steps.length >> 1] ?? 1;
}

/** Frames per second by the usual step. */
export function usualRate(clock: Clock): number {
  return clock.timescale / usualStep(clock);
}

/** Television's rates are 1000/1001 of a whole number. */
const DROPPED = 1001 / 1000;
/** Rates are often given to a hundredth: 23.98, 29.97. */
const TOLERANCE = 0.006;

/** The exact rate that a rounded number of frames per second stands for: 29.97 is 30000/1001. */
export function exactRate(fps: number): Rational {
  const whole = Math.round(fps);
  if (whole > 0 && Math.abs(fps - whole) < 1e-3) return { num: whole, den: 1 };
  const nominal = Math.round(fps * DROPPED);
  if (nominal > 0 && Math.abs(fps - nominal / DROPPED) < TOLERANCE) return { num: nominal * 1000, den: 1001 };
  return { num: Math.max(1, Math.round(fps * 1000)), den: 1000 };
}
