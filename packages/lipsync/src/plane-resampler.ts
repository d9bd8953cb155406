import { type ResamplingAxis } from './resampling-axis';

/** Where to read: samples of one plane, `stride` apart per row. */
export interface PlaneView {
  readonly data: Uint8Array | Float32Array;
  readonly offset: number;
  readonly stride: number;
}

/**
 * Vertical half of a separable resampling: row `row` of the output, for source columns [from, to), into target[0 …).
 */
export function resampleColumns(
  plane: PlaneView,
  axis: ResamplingAxis,
  row: number,
  from: number,
  to: number,
  target: Float32Array,
): void {
  const { data, offset, stride } = plane;
  const { taps, weights } = axis;
  const count = to - from;
  const firstRow = axis.first[row] ?? 0;
  for (let t = 0; t < taps; t++) {
    const weight = weights[row * taps + t] ?? 0;
    const source = offset + (firstRow + t) * stride + from;
    if (t === 0) {
      for (let x = 0; x < count; x++) target[x] = (data[source + x] ?? 0) * weight;
    } else if (weight !== 0) {
      for (let x = 0; x < count; x++) target[x] = (target[x] ?? 0) + (data[source + x] ?? 0) * weight;
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
    const source = (first[k] ?? 0) - from;
    let sum = 0;
    for (let t = 0; t < taps; t++, w++) sum += (row[source + t] ?? 0) * (weights[w] ?? 0);
    target[offset + k] = sum;
  }
}

/** The source columns that `axis` touches: [from, to). */
export function touchedRange(axis: ResamplingAxis): { from: number; to: number } {
  return { from: axis.first[0] ?? 0, to: (axis.first[axis.outputs - 1] ?? 0) + axis.taps };
}
