/** The results of stretches that are worked on in order, one at a time, one ahead of what is wanted. */
export interface StretchQueue<T> {
  /** The result of a stretch; starts the next one behind it and forgets those before it. Wanted in order. */
  want(index: number): Promise<T>;
  /** Stops what is under way; resolves when nothing is. */
  close(): Promise<void>;
}

/** `work` is told to stop by its signal: when `signal` is aborted, or the queue closed. */
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
    // Whoever wants it gets the failure; the next stretch has one of its own.
    last = Promise.allSettled([result]);
    return result;
  };

  return {
    async want(index) {
      for (const passed of results.keys()) if (passed < index) results.delete(passed);
      const result = start(index);
      const value = await result;
      // Not sooner: two stretches are in memory, the one that is wanted and the one under way.
      if (index + 1 < count && !either.aborted) void Promise.allSettled([start(index + 1)]);
      return value;
    },
    async close() {
      stop.abort(new Error('the clip was closed'));
      await last;
      results.clear();
    },
  };
}
