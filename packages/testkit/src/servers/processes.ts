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

/** A limit for hangs: that a server has ended is noticed at once, and a busy machine may need a minute. */
const DEADLINE_MS = 120_000;

/** Polls `probe` until it returns a value. Throws if that takes too long or `probe` throws. */
export async function waitUntil<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const result = await probe();
    if (result !== undefined) return result;
    if (Date.now() >= deadline) throw new Error(`${what}: not within ${DEADLINE_MS} ms`);
    await delay(20);
  }
}
