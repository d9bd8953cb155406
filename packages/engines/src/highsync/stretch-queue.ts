/** The results of stretches, which are processed in order, one at a time, one ahead of the stretch being consumed. */
export interface StretchQueue<T> {
  /** The result of a stretch; starts the next stretch after it and forgets the ones before. Call in order. */
  want(index: number): Promise<T>;
  /** Stops the work in progress and resolves when it has ended. */
  close(): Promise<void>;
}

/** `work` gets a signal that aborts when `signal` does or when the queue is closed. */
export function createStretchQueue<T>(
  count: number,
  work: (index: number, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): StretchQueue<T> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const results = new Map<number, Promise<T>>();
  let last: Promise<unknown> = Promise.resolve();

  const start = (index: number): Promise<T> => {
    const begun = results.get(index);
    if (begun) return begun;
    const result = last.then(() => {
      either.throwIfAborted();
      return work(index, either);
    });
    results.set(index, result);
    // The failure goes to whoever wants this stretch; the next stretch succeeds or fails on its own.
    last = Promise.allSettled([result]);
    return result;
  };

  return {
    async want(index) {
      for (const passed of results.keys()) if (passed < index) results.delete(passed);
      const result = start(index);
      const value = await result;
      // Not earlier: only two stretches may be in memory, the requested one and the one in progress.
      if (index + 1 < count) void Promise.allSettled([start(index + 1)]);
      return value;
    },
    async close() {
      stop.abort(new Error('the clip was closed'));
      await last;
      results.clear();
    },
  };
}
