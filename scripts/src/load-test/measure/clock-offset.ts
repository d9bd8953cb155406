/** How far the service's clock is ahead of the harness's. */
export interface ClockOffset {
  readonly ms: number;
  /** The true offset lies within ± this, if neither clock was moved meanwhile. */
  readonly uncertaintyMs: number;
}

export interface ClockOffsetEstimate {
  /** One answer: its Date header, and when its request was sent and answered (epoch milliseconds). */
  observe(dateHeader: string | undefined, sentAtMs: number, answeredAtMs: number): void;
  /** Null before anything was observed. */
  current(): ClockOffset | null;
}

/**
 * Estimates the offset from Date headers. Each says that the service's clock stood between that second's beginning and
 * its end at some moment between sending and answering, which bounds the offset on both sides; the tightest bounds of
 * many answers leave little of the second.
 */
export function createClockOffsetEstimate(): ClockOffsetEstimate {
  let lowest = -Infinity;
  let highest = Infinity;
  return {
    observe(dateHeader, sentAtMs, answeredAtMs) {
      const second = Date.parse(dateHeader ?? '');
      if (Number.isNaN(second)) return;
      lowest = Math.max(lowest, second - answeredAtMs);
      highest = Math.min(highest, second + 1000 - sentAtMs);
    },
    current() {
      if (lowest === -Infinity) return null;
      // Servers write the header from a clock that ticks late by a little, which can make the bounds cross.
      return { ms: (lowest + highest) / 2, uncertaintyMs: Math.abs(highest - lowest) / 2 };
    },
  };
}
