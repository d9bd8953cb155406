import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from './api-client';

const PAUSE_MS = 500;
/** How long the API may be away, for a restart, before a caller gives up. */
const ABSENCE_MS = 120_000;

/**
 * Repeats a call while the API is away or asks to try again later. For calls that may safely be repeated: reads, and
 * creates with an idempotency key. A refusal that would only be repeated is thrown at once.
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
      const isFinal = error instanceof ApiError && !error.error.retryable;
      if (isFinal || performance.now() - startedAt > absenceMs) throw error;
    }
    await delay(pauseMs);
  }
}
