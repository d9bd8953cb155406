import { isDatabaseUnavailable } from '@lipsync/db';

const PAUSE_MS = 500;

/**
 * Repeats a write while what takes it is away (the database, unless told otherwise), until it succeeds or `signal` is
 * aborted: minutes of finished work are not thrown away because something was gone for a second. Rejects with the last
 * error, at once when it is of another kind, or with the signal's reason when it never got to try.
 */
export async function insist<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  isAway: (error: unknown) => boolean = isDatabaseUnavailable,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
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
