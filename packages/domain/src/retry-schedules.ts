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

/**
 * Delays after failures 1 to 10: 10 s, 1, 5, 15, 30 min, 1, 2, 4, 6, 7 h. With jitter they add up to at most 22 h 59
 * min.
 */
export const WEBHOOK_RETRY_DELAYS_SECONDS: readonly number[] = [
  10, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 25_200,
];
/**
 * No retry is due later than this after the creation of the delivery. A retry that is due at the very end may be
 * claimed up to a minute later. The first attempt is made at any age, as long as the event is kept.
 */
export const WEBHOOK_WINDOW_SECONDS = 86_400;
/** Limit of one attempt, from the DNS lookup to the end of the response. */
export const WEBHOOK_TIMEOUT_SECONDS = 15;
/** Attempts under way at one origin at once, over all dispatchers. */
export const WEBHOOK_ATTEMPTS_PER_ORIGIN = 8;

interface FailedAttempt {
  /** Attempts made so far, including this failed one. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly now: Date;
  /** Random, in [0, 1): gives the delay ±10 % jitter. */
  readonly jitter: number;
  /** The receiver's Retry-After. It can only lengthen the wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** Delays after failures 1, 2, …: one fewer than there are attempts. */
  readonly delaysSeconds: readonly number[];
}

/** When to retry after a failure, or null when the delivery is given up. */
export function nextAttemptAt(failed: FailedAttempt): Date | null {
  const base = failed.delaysSeconds[failed.attempts - 1];
  const windowEnd = failed.createdAt.getTime() + WEBHOOK_WINDOW_SECONDS * 1000;
  if (base === undefined || failed.now.getTime() >= windowEnd) return null;
  const delaySeconds = Math.max(base * (0.9 + 0.2 * failed.jitter), failed.retryAfterSeconds ?? 0);
  return new Date(Math.min(failed.now.getTime() + Math.round(delaySeconds * 1000), windowEnd));
}
