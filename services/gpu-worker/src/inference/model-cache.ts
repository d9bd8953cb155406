/** A model that is not loaded yet. */
export interface Loadable<T> {
  /** Size of its weights. */
  readonly bytes: number;
  readonly load: () => Promise<T>;
}

/** Keeps loaded models by key, as many as the size of their weights allows. */
export interface ModelCache<T> {
  /**
   * The model under `key`, loaded with `open` if it is not kept. Before loading, the least recently used models are
   * released until the new one fits; a model larger than the cache is kept alone. If memory is still too short, all
   * others are released and loading is tried once more, because they take more of a device's memory than their weights.
   */
  get(key: string, open: () => Promise<Loadable<T>>): Promise<T>;
  /** Releases everything. */
  clear(): Promise<void>;
}

/** An empty cache for `maxBytes` of weights. Calls must not overlap. */
export function createModelCache<T>(
  maxBytes: number,
  release: (model: T) => Promise<void>,
  isOutOfMemory: (error: unknown) => boolean = () => false,
): ModelCache<T> {
  // Ordered by use, least recent first.
  const kept = new Map<string, { readonly model: T; readonly bytes: number }>();
  let total = 0;

  const shrinkTo = async (bytes: number): Promise<void> => {
    for (const [oldest, entry] of kept) {
      if (total <= bytes) break;
      kept.delete(oldest);
      total -= entry.bytes;
      await release(entry.model);
    }
  };

  return {
    clear: () => shrinkTo(-1),
    async get(key, open) {
      const found = kept.get(key);
      if (found) {
        kept.delete(key);
        kept.set(key, found);
        return found.model;
      }
      const { bytes, load } = await open();
      await shrinkTo(maxBytes - bytes);
      const model = await load().catch(async (error: unknown) => {
        if (kept.size === 0 || !isOutOfMemory(error)) throw error;
        await shrinkTo(-1);
        return load();
      });
      kept.set(key, { model, bytes });
      total += bytes;
      return model;
    },
  };
}
