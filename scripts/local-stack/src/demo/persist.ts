import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, UnexpectedAnswer } from './api-client';

const PAUSE_MS = 500;
/** How long the API may be unavailable, e.g. during a restart, before a caller gives up. */
const ABSENCE_MS = 120_000;

/**
 * Repeats a call while the API is unavailable or asks to try again later. Use it only for calls that may be repeated:
 * reads, and creates with an idempotency key. Every other error is thrown at once.
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
  // Errors of fetch itself: no connection, or a broken one. A timeout is a DOMException, which is not an Error on every
  // platform.
  if (error instanceof TypeError) return true;
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'TimeoutError';
}
