import { type ResamplingAxis } from './resampling-axis';

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
