/** A model that is not loaded yet. */
export interface Loadable<T> {
  /** Size of its weights. */
  readonly bytes: number;
  readonly load: () => Promise<T>;
}

/** Keeps loaded models by their key, as many as their weights' size allows. */
export interface ModelCache<T> {
  /**
   * What is kept under `key`, or what `open` leads to. Before loading, the least recently used models are released
   * until the new one fits; a model larger than the cache is kept alone.
   */
  get(key: string, open: () => Promise<Loadable<T>>): Promise<T>;
}

/** An empty cache for `maxBytes` of weights. Calls of `get` must not overlap. */
export function createModelCache<T>(maxBytes: number, release: (model: T) => Promise<void>): ModelCache<T> {
  // In order of use, the longest unused first.
  const kept = new Map<string, { readonly model: T; readonly bytes: number }>();
  let total = 0;

  return {
    async get(key, open) {
      const found = kept.get(key);
      if (found) {
        kept.delete(key);
        kept.set(key, found);
        return found.model;
      }
      const { bytes, load } = await open();
      for (const [oldest, entry] of kept) {
        if (total + bytes <= maxBytes) break;
        kept.delete(oldest);
        total -= entry.bytes;
        await release(entry.model);
      }
      const model = await load();
      kept.set(key, { model, bytes });
      total += bytes;
      return model;
    },
  };
}
