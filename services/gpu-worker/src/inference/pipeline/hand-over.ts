/** An ordered hand-over from one loop to another. It holds what the giver brought ahead; the giver bounds that itself. */
export interface HandOver<Item> {
  give(item: Item): void;
  /** No more items will come. */
  end(): void;
  /** The items in order; the iteration throws the signal's reason once that is aborted. */
  items(): AsyncGenerator<Item, void, undefined>;
}

export function createHandOver<Item>(signal: AbortSignal): HandOver<Item> {
  const ahead: Item[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  signal.addEventListener('abort', () => wake());

  return {
    give: (item) => {
      ahead.push(item);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    async *items() {
      for (;;) {
        signal.throwIfAborted();
        const item = ahead.shift();
        if (item !== undefined) yield item;
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
