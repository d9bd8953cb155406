/** Wall-clock time as a dependency, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * The machine's clock, which may be set at any moment. The database's clock decides when a lease ends and what is due.
 * A worker measures the remaining time of its own lease with `performance`, which is never set.
 */
export const systemClock: Clock = { now: () => Date.now() };
