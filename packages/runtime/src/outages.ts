const PAUSE_MS = 500;

/**
 * Repeats a write while its target is unavailable, as `isAway` decides from the error, until it succeeds or `signal` is
 * aborted, so that a short outage does not discard minutes of finished work. Rejects with the last error, at once for
 * other errors, or with the signal's reason if no attempt was made.
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

/** Reports an outage at its first failure and at the first success after it, and nothing in between. */
export function createOutageNotice(tell: { begins: (error: unknown) => void; ends: () => void }): {
  failed: (error: unknown) => void;
  worked: () => void;
} {
  let isOut = false;
  return {
    failed: (error) => {
      if (!isOut) tell.begins(error);
      isOut = true;
    },
    worked: () => {
      if (isOut) tell.ends();
      isOut = false;
    },
  };
}
