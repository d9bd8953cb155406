import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '@lipsync/testkit';

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

/** The terminal or the system asked this process to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * Resolves to the work's result, or rejects when SIGINT or SIGTERM comes first, so that the caller can clean up. The
 * work itself continues until the process exits; a second signal ends the process at once.
 * @throws Interrupted.
 */
export async function untilInterrupted<T>(work: Promise<T>): Promise<T> {
  let interrupt: ((signal: NodeJS.Signals) => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (signal) => reject(new Interrupted(signal));
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    if (interrupt !== undefined) process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** Longer than a start on a busy machine, which takes up to 90 s for the services alone. */
const PATIENCE_MS = 180_000;

/** Runs `action` while holding a lock file, so that two simultaneous `stack up` do not start everything twice. */
export async function withLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  const acquired = await waitUntil(() => tryLock(file), PATIENCE_MS);
  if (!acquired) throw new Error(`another stack command has held ${file} for three minutes`);
  try {
    return await action();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!holderIsAlive(file)) rmSync(file, { force: true });
    return false;
  }
}

function holderIsAlive(file: string): boolean {
  try {
    return isAlive(Number(readFileSync(file, 'utf8')));
  } catch {
    // It was released in the meantime.
    return false;
  }
}
