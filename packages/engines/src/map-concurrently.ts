import { createInOrder } from './in-order';

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
