/** Wall time as an argument, so that what depends on it can be driven by a test. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The machine's clock. Leases and availability use the database's clock instead. */
export const systemClock: Clock = { now: () => Date.now() };
