import { types } from 'node:util';

/** How many items a batch holds, how many batches are under way, and how long a call waits to be in one; for ever without. */
export interface Batches {
  readonly max: number;
  readonly inFlight: number;
  readonly limit?: { readonly waitMs: number; readonly error: () => Error };
}

/**
 * Puts calls into batches: under load many requests share what is costly about a round trip. A call waits for the end
 * of the event loop's turn, and while `inFlight` batches are under way for one of them to end; alone it waits for nobody.
 * Where there is a `limit`, a call that has waited for `limit.waitMs` is rejected with `limit.error()`: it was never begun.
 * @param runAll takes at most `max` items and resolves with a result for each in their order: the error that this one failed
 * with, or a promise where this one takes longer than the batch; when it rejects, all of them have failed
 */
export function batchCalls<Item, Result>(
  { max, inFlight, limit }: Batches,
  runAll: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result> | Error)[]>,
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    since: number;
    resolve: (result: Result | Promise<Result>) => void;
    reject: (reason: unknown) => void;
  }
  const waiting: Call[] = [];
  let running = 0;
  let isScheduled = false;
  let isWatched = false;

  async function runBatch(calls: readonly Call[]): Promise<void> {
    let settle: () => void;
    try {
      const results = await runAll(calls.map(({ item }) => item));
      if (results.length !== calls.length) throw new Error('there is not one result for each call');
      settle = () =>
        results.forEach((result, index) => {
          if (types.isNativeError(result)) calls[index]?.reject(result);
          else calls[index]?.resolve(result);
        });
    } catch (error) {
      settle = () => calls.forEach(({ reject }) => reject(error));
    }
    running -= 1;
    // The next batch is on its way before anybody goes on with the results of this one.
    if (!isScheduled) start();
    settle();
  }

  function start(): void {
    isScheduled = false;
    while (waiting.length > 0 && running < inFlight) {
      running += 1;
      void runBatch(waiting.splice(0, max));
    }
  }

  function schedule(): void {
    if (isScheduled || running >= inFlight) return;
    isScheduled = true;
    setImmediate(start);
  }

  /** One timer for all that wait: set for the oldest, and looked at again only when it has run out. */
  function watch(): void {
    const [oldest] = waiting;
    if (limit === undefined || oldest === undefined || isWatched) return;
    isWatched = true;
    setTimeout(refuseLate, oldest.since + limit.waitMs - performance.now(), limit).unref();
  }

  function refuseLate({ waitMs, error }: NonNullable<Batches['limit']>): void {
    isWatched = false;
    const latest = performance.now() - waitMs;
    const firstInTime = waiting.findIndex(({ since }) => since > latest);
    const late = waiting.splice(0, firstInTime === -1 ? waiting.length : firstInTime);
    watch();
    late.forEach(({ reject }) => reject(error()));
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, since: performance.now(), resolve, reject });
      schedule();
      watch();
    });
}
