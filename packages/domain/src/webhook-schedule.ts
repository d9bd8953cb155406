/** Delays after the failures 1 to 10: 10 s, 1, 5, 15, 30 min, 1, 2, 4, 6, 7 h. With jitter 22 h 59 min at most. */
export const WEBHOOK_RETRY_DELAYS_SECONDS: readonly number[] = [
  10, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 25_200,
];
/**
 * No further attempt is due later than this after the delivery was created; one that is due at the very end is claimed up
 * to a minute later. A first attempt is made at any age, while the event is kept.
 */
export const WEBHOOK_WINDOW_SECONDS = 86_400;
/** One attempt, from the name lookup to the end of the answer. */
export const WEBHOOK_TIMEOUT_SECONDS = 15;
/** Attempts that are under way at one origin at once, of all dispatchers together. */
export const WEBHOOK_ATTEMPTS_PER_ORIGIN = 8;

export interface FailedAttempt {
  /** Attempts made so far, this failed one included. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly now: Date;
  /** Random, in [0, 1): spreads the delay over ±10 %. */
  readonly jitter: number;
  /** What the receiver asked for; it can only make the wait longer. */
  readonly retryAfterSeconds?: number | undefined;
  /** After the failures 1, 2, …: one attempt more than there are delays. */
  readonly delaysSeconds: readonly number[];
}

/** When to try again after a failure, or null when the delivery is given up. */
export function nextAttemptAt(failed: FailedAttempt): Date | null {
  const base = failed.delaysSeconds[failed.attempts - 1];
  const windowEnd = failed.createdAt.getTime() + WEBHOOK_WINDOW_SECONDS * 1000;
  if (base === undefined || failed.now.getTime() >= windowEnd) return null;
  const delaySeconds = Math.max(base * (0.9 + 0.2 * failed.jitter), failed.retryAfterSeconds ?? 0);
  return new Date(Math.min(failed.now.getTime() + Math.round(delaySeconds * 1000), windowEnd));
}
