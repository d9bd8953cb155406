/** Wall time as an argument, so that what depends on it can be driven by a test. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * The machine's clock, which may be set at any moment. When a lease ends and what is due is for the database's clock; a
 * worker counts the time that its own lease has left by `performance`, which is never set.
 */
export const systemClock: Clock = { now: () => Date.now() };
