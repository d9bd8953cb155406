import { ONE } from './fixed';

/**
 * One axis of a separable resampling, at an address: output k is the sum over t < taps of source[first(k) + t] ·
 * weight(k, t) / ONE, with first(k) + t always inside the source. The number of taps is even, and the weights of an
 * output add up to exactly ONE, so that flat areas keep their value; or to 0, if it is hidden.
 *
 * Layout: taps, outputs, room (int32) and four unused bytes; `first` of every output (int32); then the weights (int16),
 * `room` per output: two for two taps, otherwise a multiple of eight, padded with zeros. With two taps the picks
 * follow: the positions of the four bytes of each output's samples, relative to the first sample of its group of four
 * outputs. Outputs are padded with weightless ones to a multiple of eight. After that comes scratch space for the
 * unrounded weights of one output.
 */
const FIRSTS: usize = 16;

export function tapsOf(axis: usize): i32 {
  return load<i32>(axis);
}

/** The space for weights of each output. */
export function roomOf(axis: usize): i32 {
  return load<i32>(axis, 8);
}

/** The number of outputs without padding. */
export function outputsOf(axis: usize): i32 {
  return load<i32>(axis, 4);
}

export function padded(outputs: i32): i32 {
  return (outputs + 7) & ~7;
}

export function firstsOf(axis: usize): usize {
  return axis + FIRSTS;
}

/** The first source sample under output `k`. */
export function firstOf(axis: usize, k: i32): i32 {
  return load<i32>(firstsOf(axis) + ((<usize>k) << 2));
}

/** One past the last source sample that the axis touches. */
export function endOf(axis: usize): i32 {
  return firstOf(axis, outputsOf(axis) - 1) + tapsOf(axis);
}

/** The address of the weights of output `k`. */
export function weightsOf(axis: usize, k: i32): usize {
  const weights = firstsOf(axis) + ((<usize>padded(outputsOf(axis))) << 2);
  return weights + ((<usize>(k * roomOf(axis))) << 1);
}

/** The address of the picks of an axis with two taps. */
export function picksOf(axis: usize): usize {
  return weightsOf(axis, padded(outputsOf(axis)));
}

/**
 * Writes the axis that spreads [start, start + span) of a source of `limit` (≥ 2) samples over `outputs` samples. Where
 * the source is more than `enlargement` times as dense as the output, the interpolation kernel is stretched, so that
 * every source sample counts. Beyond its ends the source repeats its last sample. The kernel is a table of `steps` values per unit of distance,
 * `radius` units long.
 */
export function aimAxis(
  axis: usize,
  table: usize,
  radius: i32,
  steps: f64,
  outputs: i32,
  start: f64,
  span: f64,
  limit: i32,
  enlargement: f64,
): void {
  const step = span / <f64>outputs;
  const stretch = max<f64>(1, step / enlargement);
  const reach = <f64>radius * stretch;
  const wanted = 2 * <i32>Math.ceil(reach);
  const taps = min<i32>(wanted, limit & ~1);
  const room = taps === 2 ? 2 : padded(taps);
  const scale = steps / stretch;
  const last = <i32>(<f64>radius * steps);
  store<i32>(axis, taps);
  store<i32>(axis, outputs, 4);
  store<i32>(axis, room, 8);
  const weights = weightsOf(axis, 0);
  const picks = picksOf(axis);
  const exact = picks + ((<usize>padded(outputs)) << 2);
  memory.fill(weights, 0, picks - weights);
  for (let k = 0; k < outputs; k++) {
    const center = start + (<f64>k + 0.5) * step - 0.5;
    const begin = <i32>Math.floor(center - reach) + 1;
    const inside = min<i32>(max<i32>(begin, 0), limit - taps);
    store<i32>(firstsOf(axis) + ((<usize>k) << 2), inside);
    memory.fill(exact, 0, (<usize>taps) << 2);
    let sum: f32 = 0;
    for (let t = 0; t < wanted; t++) {
      const distance = abs<f64>(<f64>(begin + t) - center) * scale;
      const weight = load<f32>(table + ((<usize>min<i32>(<i32>(distance + 0.5), last)) << 2));
      const slot = exact + ((<usize>min<i32>(max<i32>(begin + t - inside, 0), taps - 1)) << 2);
      store<f32>(slot, load<f32>(slot) + weight);
      sum += weight;
    }
    quantize(exact, taps, <f32>ONE / sum, weightsOf(axis, k));
  }
  const end = firstOf(axis, outputs - 1);
  for (let k = outputs; k < padded(outputs); k++) store<i32>(firstsOf(axis) + ((<usize>k) << 2), end);
  if (room === 2) pick(axis, picks);
}

/** Takes all weight from output `k`: whatever the source, it is 0. */
export function hideOutput(axis: usize, k: i32): void {
  memory.fill(weightsOf(axis, k), 0, (<usize>roomOf(axis)) << 1);
}

/** With two taps outputs are at least as dense as samples, so four of them use five samples at most. */
function pick(axis: usize, picks: usize): void {
  for (let k = 0; k < padded(outputsOf(axis)); k++) {
    const apart = min<i32>(firstOf(axis, k) - firstOf(axis, k & ~3), 3);
    store<u32>(picks + ((<usize>k) << 2), 0x03020100 + apart * 0x02020202);
  }
}

/** Converts weights to fixed point. The rounding error of one weight is carried over to the next. */
function quantize(exact: usize, count: i32, scale: f32, target: usize): void {
  let owed: f32 = 0;
  for (let i = 0; i < count; i++) {
    const weight = load<f32>(exact + ((<usize>i) << 2)) * scale + owed;
    const rounded = nearest<f32>(weight);
    owed = weight - rounded;
    store<i16>(target + ((<usize>i) << 1), <i16>rounded);
  }
}
