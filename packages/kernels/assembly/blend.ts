import { perCode } from './fixed';

/**
 * Sets the weights below `least` of two rows to exactly 0. Returns whether any are left. `count` is a multiple of four.
 */
export function keepVisible(weights: usize, count: i32, least: f32): bool {
  const threshold = f32x4.splat(least);
  let any = i32x4.splat(0);
  for (const end = weights + ((<usize>count) << 2); weights < end; weights += 16) {
    const values = v128.load(weights);
    const kept = v128.and(values, f32x4.ge(values, threshold));
    v128.store(weights, kept);
    any = v128.or(any, kept);
  }
  return v128.any_true(any);
}

/**
 * Blends two rows of a picture of bytes: `luma` is the upper row's first sample, `u` and `v` the chroma row's. `face`
 * holds two rows of luma, one of U and one of V in 8-bit codes; `alpha` holds two rows, each with room for `columns` (a
 * multiple of eight) float32. A chroma sample is weighted by the mean of its four pixels' alphas. Samples with alpha 0
 * keep their value.
 */
export function blendRows(
  luma: usize,
  stride: i32,
  u: usize,
  v: usize,
  columns: i32,
  face: usize,
  alpha: usize,
): void {
  const row = (<usize>columns) << 2;
  const quarter = f32x4.splat(0.25);
  for (let x = 0; x < columns; x += 8) {
    const offset = (<usize>x) << 2;
    const weights = alpha + offset;
    if (!anyShown(weights, row)) continue;
    let alphas = f32x4.splat(0);
    for (let k: usize = 0; k < 2; k++) {
      const a0 = v128.load(weights + k * row);
      const a1 = v128.load(weights + k * row, 16);
      const y = face + offset + k * row;
      blendEight<u8>(luma + <usize>x + k * <usize>stride, v128.load(y), v128.load(y, 16), a0, a1);
      alphas = f32x4.add(alphas, pairs(a0, a1));
    }
    alphas = f32x4.mul(alphas, quarter);
    const chroma = <usize>(x >> 1);
    const codes = face + 2 * row + (offset >> 1);
    blendFour<u8>(u + chroma, v128.load(codes), alphas);
    blendFour<u8>(v + chroma, v128.load(codes + row), alphas);
  }
}

/** Whether any of eight alphas in each of two rows, `row` bytes apart, is not 0. */
export function anyShown(alpha: usize, row: usize): bool {
  const upper = v128.or(v128.load(alpha), v128.load(alpha, 16));
  const lower = v128.or(v128.load(alpha + row), v128.load(alpha + row, 16));
  return v128.any_true(v128.or(upper, lower));
}

/** Blends two times four values, in 8-bit codes, into eight samples, by as many alphas. */
export function blendEight<T>(target: usize, y0: v128, y1: v128, a0: v128, a1: v128): void {
  const old = sizeof<T>() === 1 ? v128.load8x8_u(target) : v128.load(target);
  const mixed0 = blended<T>(i32x4.extend_low_i16x8_u(old), y0, a0);
  const mixed1 = blended<T>(i32x4.extend_high_i16x8_u(old), y1, a1);
  const words = i16x8.narrow_i32x4_u(mixed0, mixed1);
  if (sizeof<T>() === 1) v128.store64_lane(target, i8x16.narrow_i16x8_u(words, words), 0);
  else v128.store(target, words);
}

/** Sums of neighbors: 0+1, 2+3 of the first vector, then of the second. */
export function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}

/** Four 32-bit samples blended towards `value` by `alpha`, rounded; exactly the old ones where alpha is 0. */
function blended<T>(old: v128, value: v128, alpha: v128): v128 {
  const before = f32x4.convert_i32x4_u(old);
  const after = sizeof<T>() === 1 ? value : f32x4.mul(value, f32x4.splat(perCode<T>()));
  const change = f32x4.mul(f32x4.sub(after, before), alpha);
  const mixed = i32x4.trunc_sat_f32x4_u(f32x4.add(f32x4.add(before, change), f32x4.splat(0.5)));
  // Bytes are limited where they are stored.
  const limited = sizeof<T>() === 1 ? mixed : i32x4.min_u(mixed, i32x4.splat(1023));
  return v128.bitselect(limited, old, f32x4.gt(alpha, f32x4.splat(0)));
}

export function blendFour<T>(target: usize, value: v128, alpha: v128): void {
  if (sizeof<T>() === 1) {
    const old = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(target)));
    const words = blended<T>(old, value, alpha);
    const halves = i16x8.narrow_i32x4_u(words, words);
    v128.store32_lane(target, i8x16.narrow_i16x8_u(halves, halves), 0);
  } else {
    const words = blended<T>(v128.load16x4_u(target), value, alpha);
    v128.store64_lane(target, i16x8.narrow_i32x4_u(words, words), 0);
  }
}
