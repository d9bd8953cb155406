const BASE_SECONDS = 5;
const FACTOR = 4;
const MAX_SECONDS = 300;

/**
 * Seconds to wait before a failed job is tried again: 5, 20, 80 … at most 300, spread over ±10 %.
 * @param attempt the attempt that failed, from 1
 * @param jitter random, in [0, 1)
 */
export function retryDelaySeconds(attempt: number, jitter: number): number {
  const delay = Math.min(BASE_SECONDS * FACTOR ** (attempt - 1), MAX_SECONDS);
  return delay * (0.9 + 0.2 * jitter);
}
