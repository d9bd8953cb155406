/** Work of which a few pieces are under way at once, and whose results are taken in the order in which it was started. */
export interface InOrder<T> {
  /** Starts a piece as soon as there is room. Rejects with what an earlier piece failed with; then nothing is started. */
  add(start: () => Promise<T>): Promise<void>;
  /** Resolves when all results are taken; rejects with what the first piece to fail failed with. */
  finish(): Promise<void>;
  /** Waits for what is under way, however it ends, and takes no more results. */
  settle(): Promise<void>;
}

/** At most `limit` pieces at once; `take` gets each result. */
export function createInOrder<T>(limit: number, take: (result: T) => void): InOrder<T> {
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
    async add(start) {
      await takeUntil(limit - 1);
      const work = start();
      // Awaited later: until then a failure must not count as nobody's.
      void Promise.allSettled([work]);
      running.push(work);
    },
    finish: () => takeUntil(0),
    async settle() {
      await Promise.allSettled(running);
    },
  };
}

/** The results of several pieces of work once all of them have ended; rejects with what the first of them failed with. */
export async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
