/**
 * Runs at most `limit` pieces of work at once; `take` gets their results in the order in which the pieces were started.
 */
export function createInOrder<T>(limit: number, take: (result: T) => void) {
  const running: Promise<T>[] = [];
  const takeOldest = async (oldest: Promise<T>): Promise<void> => {
    take(await oldest);
    void running.shift();
  };
  const takeUntil = async (left: number): Promise<void> => {
    for (let oldest = running[0]; oldest && running.length > left; oldest = running[0])
      await takeOldest(oldest);
  };
  return {
    /** Starts a piece as soon as there is room. If an earlier piece failed, rejects with its error and starts nothing. */
    async add(start: () => Promise<T>): Promise<void> {
      await takeUntil(limit - 1);
      const work = start();
      // It is awaited later; until then a failure must not count as an unhandled rejection.
      void Promise.allSettled([work]);
      running.push(work);
    },
    /** Resolves when all results are taken; rejects with the error of the first piece that failed. */
    finish: () => takeUntil(0),
    /** Waits until all running pieces have ended, whether or not they succeed, and takes no more results. */
    async settle(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}

/**
 * Like `Promise.all`, but settles only once all of the work has ended. When it rejects, nothing is still using the memory
 * or the files of whoever waits.
 */
export async function allEnded<T extends readonly Promise<unknown>[] | []>(work: T) {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Pieces of work inside the graphs at once: one runs, one waits. More would only hold memory. */
const AT_ONCE = 2;

/** Applies `work` to every item, a few at a time. Rejects with the signal's reason between items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const results: R[] = [];
  const running = createInOrder<R>(AT_ONCE, (result) => results.push(result));
  try {
    for (const [index, item] of items.entries()) {
      signal.throwIfAborted();
      await running.add(() => work(item, index));
    }
    await running.finish();
    return results;
  } finally {
    await running.settle();
  }
}
