import { isDatabaseUnavailable } from '@lipsync/db';

const PAUSE_MS = 500;

/**
 * Repeats a write while the database is away, until it succeeds or `signal` is aborted: minutes of finished work are
 * not thrown away because the database was gone for a second. Rejects with the last error, at once when it is of
 * another kind, or with the signal's reason when it never got to try.
 */
export async function insist<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await pause(signal);
      if (signal.aborted) throw error;
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, PAUSE_MS);
    signal.addEventListener('abort', done, { once: true });
  });
}
