import { type Interpolation } from '../../resampling';

/** One plane of a picture: `height` rows of `width` samples without padding, from `offset` of `data` on. */
export interface Plane {
  readonly data: Uint8Array | Float32Array;
  readonly offset: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Vertical half of a separable resampling: row `row` of the output, for source columns [from, to), into target[0 …).
 * Two source rows per pass halve the memory traffic on the target. The number of taps is always even.
 */
export function resampleColumns(
  plane: Plane,
  axis: ResamplingAxis,
  row: number,
  from: number,
  to: number,
  target: Float32Array,
): void {
  const { data, offset, width } = plane;
  const { taps, weights } = axis;
  const count = to - from;
  const top = offset + (axis.first[row] ?? 0) * width + from;
  for (let t = 0; t < taps; t += 2) {
    const upper = weights[row * taps + t] ?? 0;
    const lower = weights[row * taps + t + 1] ?? 0;
    let a = top + t * width;
    let b = a + width;
    if (t === 0) {
      for (let x = 0; x < count; x++, a++, b++) target[x] = (data[a] ?? 0) * upper + (data[b] ?? 0) * lower;
    } else {
      for (let x = 0; x < count; x++, a++, b++) {
        target[x] = (target[x] ?? 0) + (data[a] ?? 0) * upper + (data[b] ?? 0) * lower;
      }
    }
  }
}

/**
 * Horizontal half: all outputs of `axis` from a row whose element 0 is source column `from`, into target at `offset`.
 */
export function resampleRow(
  row: Float32Array,
  from: number,
  axis: ResamplingAxis,
  target: Float32Array,
  offset: number,
): void {
  const { taps, weights, first, outputs } = axis;
  let w = 0;
  for (let k = 0; k < outputs; k++) {
    let source = (first[k] ?? 0) - from;
    let sum = 0;
    for (const end = w + taps; w < end; w += 2, source += 2) {
      sum += (row[source] ?? 0) * (weights[w] ?? 0) + (row[source + 1] ?? 0) * (weights[w + 1] ?? 0);
    }
    target[offset + k] = sum;
  }
}

/** The source columns that `axis` touches: [from, to). */
export function touchedRange(axis: ResamplingAxis): { from: number; to: number } {
  return { from: axis.first[0] ?? 0, to: (axis.first[axis.outputs - 1] ?? 0) + axis.taps };
}

/** Kernel values per unit of distance. The error against the true kernel stays far below one gray level. */
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
      const center = start + (k + 0.5) * step - 0.5;
      const begin = Math.floor(center - reach) + 1;
      const inside = Math.min(Math.max(begin, 0), limit - taps);
      const row = k * taps;
      first[k] = inside;
      weights.fill(0, row, row + taps);
      let sum = 0;
      for (let t = 0; t < wanted; t++) {
        const distance = (Math.abs(begin + t - center) / stretch) * TABLE_STEPS;
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
