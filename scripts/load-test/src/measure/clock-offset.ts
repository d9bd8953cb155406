/** How far the service's clock is ahead of the harness's. */
export interface ClockOffset {
  readonly ms: number;
  /** The true offset lies within ± this, unless either clock was adjusted meanwhile. */
  readonly uncertaintyMs: number;
}

export interface ClockOffsetEstimate {
  /** One response: its Date header, and when its request was sent and answered (epoch milliseconds). */
  observe(dateHeader: string | undefined, sentAtMs: number, answeredAtMs: number): void;
  /** Null before the first observation. */
  current(): ClockOffset | null;
}

/**
 * Estimates the offset from Date headers. Each means that, at some moment between sending and answering, the service's
 * clock was within that second, which bounds the offset on both sides. The tightest bounds over many responses leave
 * only a fraction of a second.
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
      // Servers write the header from a clock that updates slightly late, which can make the bounds cross.
      return { ms: (lowest + highest) / 2, uncertaintyMs: Math.abs(highest - lowest) / 2 };
    },
  };
}
