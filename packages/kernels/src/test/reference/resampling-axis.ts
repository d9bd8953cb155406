import { type Interpolation } from '../../interpolation';

/** Kernel values per unit of distance. The error against the true kernel stays far below one grey level. */
const TABLE_STEPS = 512;

/**
 * One axis of a separable resampling: output k of `outputs` is the sum over t < taps of
 * source[first[k] + t] · weights[k·taps + t], with first[k] + t always inside the source. The number of taps is even.
 */
export interface ResamplingAxis {
  readonly outputs: number;
  readonly taps: number;
  readonly first: Int32Array;
  readonly weights: Float32Array;
}

/**
 * Computes the axis that spreads [start, start + span) of a source of `limit` (≥ 2) samples over `outputs` samples. If
 * the source is denser than the output, the kernel is stretched so that every source sample counts (no aliasing).
 * Beyond its ends the source repeats its last sample. The result is valid until the next call.
 */
export type AimAxis = (outputs: number, start: number, span: number, limit: number) => ResamplingAxis;

export function createResamplingAxis(interpolation: Interpolation): AimAxis {
  const table = Float32Array.from({ length: interpolation.radius * TABLE_STEPS + 1 }, (_, i) =>
    interpolation.weight(i / TABLE_STEPS),
  );
  let first = new Int32Array(0);
  let weights = new Float32Array(0);
  return (outputs, start, span, limit) => {
    const step = span / outputs;
    const stretch = Math.max(1, step);
    const reach = interpolation.radius * stretch;
    const wanted = 2 * Math.ceil(reach);
    const taps = Math.min(wanted, limit - (limit % 2));
    if (first.length < outputs) first = new Int32Array(outputs);
    if (weights.length < outputs * taps) weights = new Float32Array(outputs * taps);
    for (let k = 0; k < outputs; k++) {
      const centre = start + (k + 0.5) * step - 0.5;
      const begin = Math.floor(centre - reach) + 1;
      const inside = Math.min(Math.max(begin, 0), limit - taps);
      const row = k * taps;
      first[k] = inside;
      weights.fill(0, row, row + taps);
      let sum = 0;
      for (let t = 0; t < wanted; t++) {
        const distance = (Math.abs(begin + t - centre) / stretch) * TABLE_STEPS;
        const weight = table[Math.round(distance)] ?? 0;
        const slot = row + Math.min(Math.max(begin + t - inside, 0), taps - 1);
        weights[slot] = (weights[slot] ?? 0) + weight;
        sum += weight;
      }
      for (let t = 0; t < taps; t++) weights[row + t] = (weights[row + t] ?? 0) / sum;
    }
    return { outputs, taps, first, weights };
  };
}
