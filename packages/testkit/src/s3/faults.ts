/** Deliberate faults for every request that `applies` selects. Rates are fractions from 0 to 1. */
export interface S3Faults {
  /** Requests answered with 503 SlowDown before anything is read. */
  slowDownRate: number;
  /** Requests answered with 403 AccessDenied before anything is read. */
  denyRate: number;
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
  draw(request: { method: string; key: string }): {
    slowDown: boolean;
    deny: boolean;
    reset: boolean;
    latencyMs: number;
  };
}

/** 1, less the rounding error of adding fractions. */
const WHOLE = 1 - 1e-9;
const NONE: S3Faults = { slowDownRate: 0, denyRate: 0, resetRate: 0, latencyMs: 0, applies: () => true };

/** Spreads faults evenly, not randomly: a rate of 0.25 affects every fourth request, so that a test is reproducible. */
export function createFaultPlan(): FaultPlan {
  let faults = NONE;
  const due = { slowDown: 0, deny: 0, reset: 0 };
  const take = (kind: keyof typeof due, rate: number): boolean => {
    due[kind] += rate;
    if (due[kind] < WHOLE) return false;
    due[kind] -= 1;
    return true;
  };
  return {
    set: (changes) => {
      faults = { ...faults, ...changes };
    },
    clear: () => {
      faults = NONE;
    },
    draw: (request) => {
      const { latencyMs } = faults;
      if (!faults.applies(request)) return { slowDown: false, deny: false, reset: false, latencyMs: 0 };
      // One fault each: a request that is refused has no body to cut.
      const slowDown = take('slowDown', faults.slowDownRate);
      const deny = !slowDown && take('deny', faults.denyRate);
      const reset = !slowDown && !deny && take('reset', faults.resetRate);
      return { slowDown, deny, reset, latencyMs };
    },
  };
}
