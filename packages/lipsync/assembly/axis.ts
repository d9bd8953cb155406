/**
 * One axis of a separable resampling, at an address: output k is the sum over t < taps of
 * source[first(k) + t] · weight(k, t), with first(k) + t always inside the source. The number of taps is even.
 *
 * Layout: taps and outputs (int32), eight bytes of nothing, `first` of every output (int32), then the weights (float32).
 * Outputs are padded with weightless ones to a multiple of eight. Weights lie in fours, the way in which `resampleRow`
 * eats them: taps 2j and 2j+1 of an even output, then the same taps of the output behind it.
 */
const FIRSTS: usize = 16;

export function tapsOf(axis: usize): i32 {
  return load<i32>(axis);
}

/** The outputs without their padding. */
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

/** Behind the last source sample that the axis touches. */
export function endOf(axis: usize): i32 {
  return firstOf(axis, outputsOf(axis) - 1) + tapsOf(axis);
}

/** Where the weights of output `k` begin; see the layout above for how they go on. */
export function weightsOf(axis: usize, k: i32): usize {
  const weights = firstsOf(axis) + ((<usize>padded(outputsOf(axis))) << 2);
  return weights + ((<usize>((k >> 1) * tapsOf(axis))) << 3) + ((<usize>(k & 1)) << 3);
}

/**
 * Writes the axis that spreads [start, start + span) of a source of `limit` (≥ 2) samples over `outputs` samples. Where
 * the source is denser than the output the interpolation kernel is stretched, so that every source sample counts;
 * beyond its ends the source repeats its last sample. The kernel is a table of `steps` values per unit of distance,
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
): void {
  const step = span / <f64>outputs;
  const stretch = max<f64>(1, step);
  const reach = <f64>radius * stretch;
  const wanted = 2 * <i32>Math.ceil(reach);
  const taps = min<i32>(wanted, limit & ~1);
  const scale = steps / stretch;
  const last = <i32>(<f64>radius * steps);
  store<i32>(axis, taps);
  store<i32>(axis, outputs, 4);
  memory.fill(weightsOf(axis, 0), 0, (<usize>(padded(outputs) * taps)) << 2);
  for (let k = 0; k < outputs; k++) {
    const centre = start + (<f64>k + 0.5) * step - 0.5;
    const begin = <i32>Math.floor(centre - reach) + 1;
    const inside = min<i32>(max<i32>(begin, 0), limit - taps);
    store<i32>(firstsOf(axis) + ((<usize>k) << 2), inside);
    const weights = weightsOf(axis, k);
    let sum: f32 = 0;
    for (let t = 0; t < wanted; t++) {
      const distance = abs<f64>(<f64>(begin + t) - centre) * scale;
      const weight = load<f32>(table + ((<usize>min<i32>(<i32>(distance + 0.5), last)) << 2));
      const slot = weightOf(weights, min<i32>(max<i32>(begin + t - inside, 0), taps - 1));
      store<f32>(slot, load<f32>(slot) + weight);
      sum += weight;
    }
    const share: f32 = 1 / sum;
    for (let t = 0; t < taps; t++) {
      const slot = weightOf(weights, t);
      store<f32>(slot, load<f32>(slot) * share);
    }
  }
  const end = firstOf(axis, outputs - 1);
  for (let k = outputs; k < padded(outputs); k++) store<i32>(firstsOf(axis) + ((<usize>k) << 2), end);
}

/** Where the weight of tap `t` lies among those of one output. */
function weightOf(weights: usize, t: i32): usize {
  return weights + ((<usize>(t >> 1)) << 4) + ((<usize>(t & 1)) << 2);
}
