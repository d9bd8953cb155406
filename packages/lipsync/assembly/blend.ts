import { clipped } from './colour';

/** Sets the weights below `least` of two rows to exactly 0; whether something is left. `count` is a multiple of four. */
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
 * Blends two rows of a yuv420p picture: `luma` is the upper row's first sample, `u` and `v` the chroma row's. `rgb`
 * holds rows R, R, G, G, B, B in [-1, 1] and `alpha` two rows, each of `columns` (a multiple of eight) float32. A
 * chroma sample takes the mean of its four pixels, weighted by the mean of their alphas. Samples with alpha 0 keep
 * their value. `factors` are ten float32: those of FromRgb in their order.
 */
export function blendRows(
  luma: usize,
  stride: i32,
  u: usize,
  v: usize,
  columns: i32,
  rgb: usize,
  alpha: usize,
  factors: usize,
): void {
  const row = (<usize>columns) << 2;
  const grey = f32x4.splat(128);
  for (let x = 0; x < columns; x += 8) {
    const at = rgb + ((<usize>x) << 2);
    let reds = f32x4.splat(0);
    let greens = f32x4.splat(0);
    let blues = f32x4.splat(0);
    let alphas = f32x4.splat(0);
    for (let k: usize = 0; k < 2; k++) {
      const line = at + k * row;
      const r0 = unit(v128.load(line));
      const r1 = unit(v128.load(line, 16));
      const g0 = unit(v128.load(line + 2 * row));
      const g1 = unit(v128.load(line + 2 * row, 16));
      const b0 = unit(v128.load(line + 4 * row));
      const b1 = unit(v128.load(line + 4 * row, 16));
      const weights = alpha + ((<usize>x) << 2) + k * row;
      const a0 = v128.load(weights);
      const a1 = v128.load(weights, 16);
      const black = v128.load32_splat(factors);
      const y0 = f32x4.add(black, weighted(r0, g0, b0, factors + 4));
      const y1 = f32x4.add(black, weighted(r1, g1, b1, factors + 4));
      const target = luma + <usize>x + k * <usize>stride;
      const old = v128.load8x8_u(target);
      const mixed0 = blended(i32x4.extend_low_i16x8_u(old), y0, a0);
      const mixed1 = blended(i32x4.extend_high_i16x8_u(old), y1, a1);
      const words = i16x8.narrow_i32x4_u(mixed0, mixed1);
      v128.store64_lane(target, i8x16.narrow_i16x8_u(words, words), 0);
      reds = f32x4.add(reds, pairs(r0, r1));
      greens = f32x4.add(greens, pairs(g0, g1));
      blues = f32x4.add(blues, pairs(b0, b1));
      alphas = f32x4.add(alphas, pairs(a0, a1));
    }
    const quarter = f32x4.splat(0.25);
    reds = f32x4.mul(reds, quarter);
    greens = f32x4.mul(greens, quarter);
    blues = f32x4.mul(blues, quarter);
    alphas = f32x4.mul(alphas, quarter);
    const chroma = <usize>(x >> 1);
    blendFour(u + chroma, f32x4.add(grey, weighted(reds, greens, blues, factors + 16)), alphas);
    blendFour(v + chroma, f32x4.add(grey, weighted(reds, greens, blues, factors + 28)), alphas);
  }
}

/** From [-1, 1], where graphs may overshoot, to [0, 1]. */
export function unit(values: v128): v128 {
  const half = f32x4.splat(0.5);
  return f32x4.add(f32x4.mul(clipped(values), half), half);
}

export function weighted(red: v128, green: v128, blue: v128, factors: usize): v128 {
  const sum = f32x4.add(
    f32x4.mul(red, v128.load32_splat(factors)),
    f32x4.mul(green, v128.load32_splat(factors, 4)),
  );
  return f32x4.add(sum, f32x4.mul(blue, v128.load32_splat(factors, 8)));
}

/** Sums of neighbours: 0+1, 2+3 of the first vector, then of the second. */
export function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}

/** Four 32-bit samples moved towards `value` by `alpha`, rounded; exactly the old ones where alpha is 0. */
export function blended(old: v128, value: v128, alpha: v128): v128 {
  const before = f32x4.convert_i32x4_u(old);
  const change = f32x4.mul(f32x4.sub(value, before), alpha);
  const mixed = i32x4.trunc_sat_f32x4_u(f32x4.add(f32x4.add(before, change), f32x4.splat(0.5)));
  return v128.bitselect(mixed, old, f32x4.gt(alpha, f32x4.splat(0)));
}

export function blendFour(target: usize, value: v128, alpha: v128): void {
  const old = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(target)));
  const words = blended(old, value, alpha);
  const halves = i16x8.narrow_i32x4_u(words, words);
  v128.store32_lane(target, i8x16.narrow_i16x8_u(halves, halves), 0);
}
