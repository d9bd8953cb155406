/** Mono samples in [-1, 1] that need not lie in memory: whoever listens reads as much at a time as is listened to. */
export interface Recording {
  /** In samples. */
  readonly length: number;
  /** Samples [from, to) in memory of their own; silence before the start and beyond the end. */
  read(from: number, to: number): Float32Array<ArrayBuffer>;
}

/** A recording of `length` samples, of which `readInside` fills `target` with those from `from` on. */
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

/** Samples that do lie in memory. */
export function recordingOf(samples: Float32Array): Recording {
  return recordingFrom(samples.length, (from, target) =>
    target.set(samples.subarray(from, from + target.length)),
  );
}
