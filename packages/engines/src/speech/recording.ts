/** Mono samples in [-1, 1] that need not be in memory: callers read only the part that they need. */
export interface Recording {
  /** In samples. */
  readonly length: number;
  /** Reads samples [from, to) into new memory. Before the start and beyond the end there is silence. */
  read(from: number, to: number): Float32Array<ArrayBuffer>;
}

/** A recording of `length` samples. `readInside` fills `target` with the samples from `from` on. */
export function recordingFrom(
  length: number,
  readInside: (from: number, target: Float32Array<ArrayBuffer>) => void,
): Recording {
  return {
    length,
    read(from, to) {
      const samples = new Float32Array(to - from);
      const [first, last] = [Math.max(from, 0), Math.min(to, length)];
      if (first < last) readInside(first, samples.subarray(first - from, last - from));
      return samples;
    },
  };
}

/** A recording that is in memory. */
export function recordingOf(samples: Float32Array): Recording {
  return recordingFrom(samples.length, (from, target) =>
    target.set(samples.subarray(from, from + target.length)),
  );
}
