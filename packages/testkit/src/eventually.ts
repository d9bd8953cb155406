import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 20;
/** A limit for hangs, not for speed. It is shorter than a test's own, which would hide the last failure. */
export const HANG_MS = 180_000;

/**
 * Runs `probe` until it stops throwing (for instance an `expect` inside it) and returns its result. After `deadlineMs`
 * the last failure is thrown. A passing test never waits longer than the condition takes, so none needs a deadline of
 * its own.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  { deadlineMs = HANG_MS }: { deadlineMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await delay(EVERY_MS);
  }
}
