import { setTimeout as delay } from 'node:timers/promises';

/** A monotonic clock in milliseconds that can be waited on. */
export interface Clock {
  now(): number;
  /** Waits until `at`, or not at all when it has passed; ends early, without an error, when the signal aborts. */
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
