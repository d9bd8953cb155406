import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, UnexpectedAnswer } from './api-client';

const PAUSE_MS = 500;
/** How long the API may be away, for a restart, before a caller gives up. */
const ABSENCE_MS = 120_000;

/**
 * Repeats a call while the API is away or asks to try again later, so only for calls that may be repeated: reads, and
 * creates with an idempotency key. Every other error is thrown at once.
 */
export async function persist<T>(
  call: () => Promise<T>,
  { pauseMs = PAUSE_MS, absenceMs = ABSENCE_MS } = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() - startedAt > absenceMs) throw error;
    }
    await delay(pauseMs);
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.error.retryable;
  if (error instanceof UnexpectedAnswer) return error.status >= 500;
  // fetch's own: no connection, or a broken one; no answer in time, which is a DOMException and not everywhere an Error.
  if (error instanceof TypeError) return true;
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'TimeoutError';
}
