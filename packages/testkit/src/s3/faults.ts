/** Deliberate faults for every request that `applies` selects. Rates are fractions from 0 to 1. */
export interface S3Faults {
  /** Requests answered with 503 SlowDown before anything is read. */
  slowDownRate: number;
  /** Requests whose connection is reset: uploads after their first bytes, downloads in the middle of the body. */
  resetRate: number;
  /** Delay before a request is processed. */
  latencyMs: number;
  applies: (request: { method: string; key: string }) => boolean;
}

export interface FaultPlan {
  set(faults: Partial<S3Faults>): void;
  clear(): void;
  /** Decides the fate of one request. */
  draw(request: { method: string; key: string }): { slowDown: boolean; reset: boolean; latencyMs: number };
}

/** 1, less the rounding error of adding fractions. */
const WHOLE = 1 - 1e-9;
const NONE: S3Faults = { slowDownRate: 0, resetRate: 0, latencyMs: 0, applies: () => true };

/** Spreads faults evenly, not randomly: a rate of 0.25 affects every fourth request, so that a test is reproducible. */
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
