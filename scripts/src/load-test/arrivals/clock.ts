import { setTimeout as delay } from 'node:timers/promises';

/** Monotonic milliseconds, and waiting in them. */
export interface Clock {
  now(): number;
  /** Waits until `at`, at once when that has passed; ends early, without an error, when the signal aborts. */
  until(at: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  async until(at, signal) {
    const wait = at - performance.now();
    if (wait <= 0) return;
    await delay(wait, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  },
};
