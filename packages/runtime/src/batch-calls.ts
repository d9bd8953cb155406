import { types } from 'node:util';

/**
 * The size of a batch, how many batches run at once, and how long a call waits for its batch (without a limit: for
 * ever).
 */
export interface Batches {
  readonly max: number;
  readonly inFlight: number;
  readonly limit?: { readonly waitMs: number; readonly error: () => Error };
}

/**
 * Groups calls into batches, so that under load many requests share the cost of a round trip. A call waits for the end
 * of the event loop's turn and, while `inFlight` batches are running, for one of them to end. A call on its own does
 * not wait for others. With a `limit`, a call that has waited for `limit.waitMs` is rejected with `limit.error()` and
 * never begun.
 * @param runAll takes at most `max` items and resolves with a result for each, in the same order: an error if that item
 * failed, or a promise if it takes longer than the batch. If `runAll` rejects, all items have failed.
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
    // Start the next batch before the callers continue with the results of this one.
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

  /** One timer for all waiting calls: set for the oldest call, and set again only after it has fired. */
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
