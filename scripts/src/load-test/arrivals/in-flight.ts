/** Callers under way, of however many streams share it: the bound of the generator's memory. */
export interface InFlight {
  /** Lets one more in; false when there are as many as may be. Whoever was let in leaves once. */
  enter(): boolean;
  leave(): void;
  readonly current: number;
  /** The most at once. */
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
