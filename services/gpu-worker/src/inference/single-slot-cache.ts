/** Keeps one thing by its key, something large such as the graphs of an engine. */
export interface SingleSlotCache<T> {
  /** What is kept under `key`, or what `load` gives; what was kept under another key is released before. */
  get(key: string, load: () => Promise<T>): Promise<T>;
}

/** An empty cache. Calls of `get` must not overlap. */
export function createSingleSlotCache<T>(release: (value: T) => Promise<void>): SingleSlotCache<T> {
  let kept: { key: string; value: T } | undefined;
  return {
    get: async (key, load) => {
      if (kept?.key === key) return kept.value;
      const previous = kept;
      kept = undefined;
      if (previous) await release(previous.value);
      const value = await load();
      kept = { key, value };
      return value;
    },
  };
}
