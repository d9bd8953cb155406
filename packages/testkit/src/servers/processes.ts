import { setTimeout as delay } from 'node:timers/promises';

/** Says whether a process with this id exists, even one of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Polls `probe` until it returns a value. Throws if `deadlineMs` has passed or `probe` throws. */
export async function waitUntil<T>(
  what: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const result = await probe();
    if (result !== undefined) return result;
    if (Date.now() >= deadline) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await delay(20);
  }
}
