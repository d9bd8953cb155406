/** The callers in progress, over all streams that share it; it limits the generator's memory. */
export interface InFlight {
  /** Admits one more caller; false when the maximum is reached. Every admitted caller must leave once. */
  enter(): boolean;
  leave(): void;
  readonly current: number;
  /** The largest number of callers at once. */
  readonly peak: number;
}

export function createInFlight(max: number): InFlight {
  let current = 0;
  let peak = 0;
  return {
    enter() {
      if (current >= max) return false;
      current++;
      peak = Math.max(peak, current);
      return true;
    },
    leave: () => void current--,
    get current() {
      return current;
    },
    get peak() {
      return peak;
    },
  };
}
