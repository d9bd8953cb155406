import { types } from 'node:util';

/**
 * Gathers calls into batches: under load many requests share what is costly about a round trip. A call waits for the end
 * of the event loop's turn, and while `inFlight` batches are under way for one of them to end; alone it waits for nobody.
 * @param runAll takes at most `max` items and resolves with a result for each in their order: the error that this one failed
 * with, or a promise where this one takes longer than the batch; when it rejects, all of them have failed
 */
export function gather<Item, Result>(
  { max, inFlight }: { max: number; inFlight: number },
  runAll: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result> | Error)[]>,
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    resolve: (result: Result | Promise<Result>) => void;
    reject: (reason: unknown) => void;
  }
  const waiting: Call[] = [];
  let running = 0;
  let isScheduled = false;

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

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
