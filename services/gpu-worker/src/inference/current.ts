/** Holds one thing at a time by its key: asking for another replaces it, and what was held is let go first. */
export interface Current<T> {
  get(key: string, make: () => Promise<T>): Promise<T>;
}

/** One slot for something large, such as the graphs of an engine. Calls must not overlap. */
export function createCurrent<T>(letGo: (value: T) => Promise<void>): Current<T> {
  let held: { key: string; value: T } | undefined;
  return {
    get: async (key, make) => {
      if (held?.key === key) return held.value;
      const previous = held;
      held = undefined;
      if (previous) await letGo(previous.value);
      const value = await make();
      held = { key, value };
      return value;
    },
  };
}
