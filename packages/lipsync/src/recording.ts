/** Mono samples in [-1, 1], which need not lie in memory: five minutes at 16 kHz are 19 MB, and are heard bit by bit. */
export interface Recording {
  /** In samples. */
  readonly length: number;
  /** Samples [from, to) in memory of their own; silence before the start and beyond the end. */
  read(from: number, to: number): Float32Array<ArrayBuffer>;
}

/** Samples that do lie in memory. */
export function recordingOf(samples: Float32Array): Recording {
  return {
    length: samples.length,
    read(from, to) {
      const target = new Float32Array(to - from);
      const first = Math.max(from, 0);
      if (first < to) target.set(samples.subarray(first, to), first - from);
      return target;
    },
  };
}
