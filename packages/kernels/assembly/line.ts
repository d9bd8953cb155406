/**
 * Positions along a line through a plane, four at a time. They are relative to the whole sample at or before the lowest
 * of them, so that the float32 error is an invisible fraction of a sample.
 */

/** The whole sample at or before all of `count` positions, the first at `first`. */
export function originOf(first: f64, step: f64, count: i32): f64 {
  return Math.floor(min<f64>(first, first + step * <f64>(count - 1)));
}

/** The numbers of four positions from `k` on. */
export function numbersFrom(k: i32): v128 {
  return f32x4.add(f32x4.splat(<f32>k), f32x4(0, 1, 2, 3));
}

/** The positions with these numbers. Those at and after `count` are at the last position. */
export function placesOf(first: v128, step: v128, numbers: v128, last: v128): v128 {
  return f32x4.add(first, f32x4.mul(step, f32x4.pmin(numbers, last)));
}

/** Added to a small number, it leaves the nearest integer in the low bits, and ROUNDING_BITS above. */
const ROUNDING: f32 = 12582912;
const ROUNDING_BITS = 0x4b400000;

/** The nearest integers to four numbers within ± 2²². */
export function integersOf(values: v128): v128 {
  return i32x4.sub(roundedBits(values), i32x4.splat(ROUNDING_BITS));
}

/** The same in the low sixteen bits, for numbers within ± 2¹⁵; ignore the other bits. */
export function roundedBits(values: v128): v128 {
  return f32x4.add(values, f32x4.splat(ROUNDING));
}

/** Adds values to four outputs, but only for positions before `end`. */
export function addBelow(end: v128, numbers: v128, target: usize, values: v128): void {
  v128.store(target, f32x4.add(v128.load(target), v128.and(values, f32x4.lt(numbers, end))));
}
