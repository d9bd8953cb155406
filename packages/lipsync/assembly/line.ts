/**
 * Places along a line through a plane, four at a time. They are counted from the whole sample at or before the lowest of
 * them, where float32 is exact to a fraction of a sample that nobody sees.
 */

/** The whole sample at or before all of `count` places, the first at `first`. */
export function originOf(first: f64, step: f64, count: i32): f64 {
  return Math.floor(min<f64>(first, first + step * <f64>(count - 1)));
}

/** The numbers of four places from `k` on. */
export function numbersFrom(k: i32): v128 {
  return f32x4.add(f32x4.splat(<f32>k), f32x4(0, 1, 2, 3));
}

/** Where places `numbers` lie; those at and beyond `count` lie on the last one. */
export function placesOf(first: v128, step: v128, numbers: v128, last: v128): v128 {
  return f32x4.add(first, f32x4.mul(step, f32x4.pmin(numbers, last)));
}

/** Added to a small number, it leaves the nearest integer in the low bits; these are the bits that it leaves above. */
const ROUNDING: f32 = 12582912;
const ROUNDING_BITS = 0x4b400000;

/** The nearest integers to four numbers within ± 2²². */
export function integersOf(values: v128): v128 {
  return i32x4.sub(roundedBits(values), i32x4.splat(ROUNDING_BITS));
}

/** The same in the low sixteen bits, for numbers within ± 2¹⁵; the others are to be ignored. */
export function roundedBits(values: v128): v128 {
  return f32x4.add(values, f32x4.splat(ROUNDING));
}

/** Adds what belongs to places below `end` to four outputs. */
export function addBelow(end: v128, numbers: v128, target: usize, values: v128): void {
  v128.store(target, f32x4.add(v128.load(target), v128.and(values, f32x4.lt(numbers, end))));
}
