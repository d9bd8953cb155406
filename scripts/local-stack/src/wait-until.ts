import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 50;

/** Polls `condition` until it holds; false if it does not within `deadlineMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  deadlineMs: number,
): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await delay(EVERY_MS);
  }
}
