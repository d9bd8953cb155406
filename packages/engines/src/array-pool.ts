type Floats = Float32Array<ArrayBuffer>;

/** Reuses arrays of a few fixed lengths that travel to the graphs and back, so that they need no garbage collection. */
export interface ArrayPool {
  /** An array of this length with arbitrary content. */
  take(length: number): Floats;
  give(array: Floats): void;
}

/** Keeps at most `perLength` spare arrays of each length. */
export function createArrayPool(perLength: number): ArrayPool {
  const spare = new Map<number, Floats[]>();
  return {
    take: (length) => spare.get(length)?.pop() ?? new Float32Array(length),
    give(array) {
      const same = spare.get(array.length) ?? [];
      if (same.length < perLength) same.push(array);
      spare.set(array.length, same);
    },
  };
}
