import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 20;

/**
 * Runs `probe` until it stops throwing (for instance an `expect` inside it) and returns its result. After `deadlineMs`
 * the last failure is thrown. The deadline only bounds a hang: a passing test never waits longer than the condition
 * takes.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  options: { deadlineMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + (options.deadlineMs ?? 10_000);
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await delay(EVERY_MS);
  }
}
