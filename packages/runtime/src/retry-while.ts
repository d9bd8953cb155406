const PAUSE_MS = 500;

/**
 * Repeats a write while what takes it is away, by what `isAway` says of its error, until it succeeds or `signal` is
 * aborted: minutes of finished work are not thrown away because something was gone for a second. Rejects with the last
 * error, at once when it is of another kind, or with the signal's reason when it never got to try.
 */
export async function retryWhile<T>(
  isAway: (error: unknown) => boolean,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await write();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!signal.aborted) await pause(signal);
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
