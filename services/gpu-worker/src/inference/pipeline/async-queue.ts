/** An ordered queue from one loop to another. It is unbounded: the producer limits how far ahead it runs. */
export interface AsyncQueue<Item> {
  push(item: Item): void;
  /** No more items will come. */
  end(): void;
  /** The items in order; the iteration throws the signal's reason once the signal is aborted. */
  items(): AsyncGenerator<Item, void, undefined>;
}

export function createAsyncQueue<Item>(signal: AbortSignal): AsyncQueue<Item> {
  const ahead: Item[] = [];
  let ended = false;
  let wake: () => void = () => undefined;

  return {
    push: (item) => {
      ahead.push(item);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    async *items() {
      const stop = (): void => wake();
      signal.addEventListener('abort', stop);
      try {
        for (;;) {
          signal.throwIfAborted();
          const item = ahead.shift();
          if (item !== undefined) yield item;
          else if (ended) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}
