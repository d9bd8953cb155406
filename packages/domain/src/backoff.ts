const BASE_SECONDS = 5;
const FACTOR = 4;
const MAX_SECONDS = 300;

/** Long enough that thousands of waiting jobs put little load on a store that is recovering. */
const POSTPONEMENT_SECONDS = 30;

/**
 * Seconds to wait before retrying a job that failed because a dependency of every job was unavailable, with ±10 %
 * jitter.
 * @param jitter random, in [0, 1)
 */
export function postponementSeconds(jitter: number): number {
  return spread(POSTPONEMENT_SECONDS, jitter);
}

/**
 * Seconds to wait before retrying a failed job: 5, 20, 80 … at most 300, with ±10 % jitter.
 * @param attempt the attempt that failed, from 1
 * @param jitter random, in [0, 1)
 */
export function retryDelaySeconds(attempt: number, jitter: number): number {
  const delay = Math.min(BASE_SECONDS * FACTOR ** (attempt - 1), MAX_SECONDS);
  return spread(delay, jitter);
}

function spread(seconds: number, jitter: number): number {
  return seconds * (0.9 + 0.2 * jitter);
}
