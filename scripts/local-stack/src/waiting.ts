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

/**
 * Runs `action` while holding a lock file, so that two simultaneous `stack up` do not start everything twice. Waits as
 * long as a live process holds it; `onWait` is called then.
 */
export async function withLock<T>(
  file: string,
  action: () => Promise<T>,
  onWait: (holder: number) => void,
): Promise<T> {
  let told = false;
  for (let holder = tryLock(file); holder !== null; holder = tryLock(file)) {
    if (!told) onWait(holder);
    told = true;
    await delay(EVERY_MS);
  }
  try {
    return await action();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Null when the lock is ours now; otherwise the process that holds it. */
function tryLock(file: string): number | null {
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = holderOf(file);
    if (holder !== null && isAlive(holder)) return holder;
    rmSync(file, { force: true });
  }
}

/** Null when it was released in the meantime. */
function holderOf(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
