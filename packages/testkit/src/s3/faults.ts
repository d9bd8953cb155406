/** What goes wrong on purpose, for every request that `applies` selects. Rates are shares from 0 to 1. */
export interface S3Faults {
  /** Answered 503 SlowDown before anything is read. */
  slowDownRate: number;
  /** Connection reset: an upload after its first bytes, a download in the middle of its body. */
  resetRate: number;
  /** Delay before a request is looked at. */
  latencyMs: number;
  applies: (request: { method: string; key: string }) => boolean;
}

export interface FaultPlan {
  set(faults: Partial<S3Faults>): void;
  clear(): void;
  /** The fate of one request. */
  draw(request: { method: string; key: string }): { slowDown: boolean; reset: boolean; latencyMs: number };
}

/** One, less the error of adding fractions. */
const WHOLE = 1 - 1e-9;
const NONE: S3Faults = { slowDownRate: 0, resetRate: 0, latencyMs: 0, applies: () => true };

/** Faults are spread evenly, not at random: a rate of 0.25 hits every fourth request, so a test repeats exactly. */
export function createFaultPlan(): FaultPlan {
  let faults = NONE;
  let slowDownDue = 0;
  let resetDue = 0;
  return {
    set: (changes) => {
      faults = { ...faults, ...changes };
    },
    clear: () => {
      faults = NONE;
    },
    draw: (request) => {
      if (!faults.applies(request)) return { slowDown: false, reset: false, latencyMs: 0 };
      slowDownDue += faults.slowDownRate;
      const slowDown = slowDownDue >= WHOLE;
      if (slowDown) slowDownDue -= 1;
      else resetDue += faults.resetRate;
      const reset = resetDue >= WHOLE;
      if (reset) resetDue -= 1;
      return { slowDown, reset, latencyMs: faults.latencyMs };
    },
  };
}
