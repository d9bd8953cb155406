import { CODE_BITS, ONE, ONE_BITS } from './fixed';
import { integersOf } from './line';

/**
 * Converts three float32 planes of 8-bit codes Y, U, V in place to R, G, B in [-1, 1]. `area` is a multiple of four.
 * The factors are those of ToRgb: y = Y − black, u = U − 128, v = V − 128.
 */
export function toRgb(
  planes: usize,
  area: i32,
  black: f32,
  luma: f32,
  redV: f32,
  greenU: f32,
  greenV: f32,
  blueU: f32,
): void {
  // From [0, 1] to [-1, 1]: doubled, minus one.
  const gain = f32x4.splat(2 * luma);
  const base = f32x4.splat(-2 * luma * black - 1);
  const red = f32x4.splat(2 * redV);
  const greenFromU = f32x4.splat(2 * greenU);
  const greenFromV = f32x4.splat(2 * greenV);
  const blue = f32x4.splat(2 * blueU);
  const center = f32x4.splat(128);
  const plane = (<usize>area) << 2;
  for (let at = planes, end = planes + plane; at < end; at += 16) {
    const y = f32x4.add(f32x4.mul(v128.load(at), gain), base);
    const u = f32x4.sub(v128.load(at + plane), center);
    const v = f32x4.sub(v128.load(at + 2 * plane), center);
    v128.store(at, clipped(f32x4.add(y, f32x4.mul(v, red))));
    const green = f32x4.add(f32x4.mul(u, greenFromU), f32x4.mul(v, greenFromV));
    v128.store(at + plane, clipped(f32x4.add(y, green)));
    v128.store(at + 2 * plane, clipped(f32x4.add(y, f32x4.mul(u, blue))));
  }
}

/** Multiplies `count` float32, a multiple of four, and adds a term to each, in place. */
export function scale(values: usize, count: i32, gain: f32, term: f32): void {
  const gains = f32x4.splat(gain);
  const terms = f32x4.splat(term);
  for (let at = values, end = values + ((<usize>count) << 2); at < end; at += 16) {
    v128.store(at, f32x4.add(f32x4.mul(v128.load(at), gains), terms));
  }
}

/** Clamps to [-1, 1]; NaN becomes −1. */
export function clipped(values: v128): v128 {
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(-1), values));
}

/** Converts [-1, 1], which graphs may overshoot, to [0, 1]. */
export function unit(values: v128): v128 {
  const half = f32x4.splat(0.5);
  return f32x4.add(f32x4.mul(clipped(values), half), half);
}

/** Three colors weighted by three float32 at `factors`. */
export function weighted(red: v128, green: v128, blue: v128, factors: usize): v128 {
  const sum = f32x4.add(
    f32x4.mul(red, v128.load32_splat(factors)),
    f32x4.mul(green, v128.load32_splat(factors, 4)),
  );
  return f32x4.add(sum, f32x4.mul(blue, v128.load32_splat(factors, 8)));
}

/**
 * Converts samples [from, end), multiples of four, of three float32 planes R, G, B in [-1, 1], `apart` bytes apart, to
 * 8-bit codes Y, U, V with CODE_BITS of fraction in 16 bits each. In place: the planes keep their addresses and take
 * half of their memory. `factors` are ten float32: those of FromRgb in their order. Anything after `end` is garbage.
 */
export function toYuv(planes: usize, apart: usize, from: i32, end: i32, factors: usize): void {
  for (let i = from; i < end; i += 8) {
    const source = planes + ((<usize>i) << 2);
    const r0 = unit(v128.load(source));
    const r1 = unit(v128.load(source, 16));
    const g0 = unit(v128.load(source + apart));
    const g1 = unit(v128.load(source + apart, 16));
    const b0 = unit(v128.load(source + 2 * apart));
    const b1 = unit(v128.load(source + 2 * apart, 16));
    const target = planes + ((<usize>i) << 1);
    const black = v128.load32_splat(factors);
    const gray = f32x4.splat(128);
    const y0 = f32x4.add(black, weighted(r0, g0, b0, factors + 4));
    const y1 = f32x4.add(black, weighted(r1, g1, b1, factors + 4));
    const u0 = f32x4.add(gray, weighted(r0, g0, b0, factors + 16));
    const u1 = f32x4.add(gray, weighted(r1, g1, b1, factors + 16));
    const v0 = f32x4.add(gray, weighted(r0, g0, b0, factors + 28));
    const v1 = f32x4.add(gray, weighted(r1, g1, b1, factors + 28));
    v128.store(target, words(y0, y1, CODE_BITS));
    v128.store(target + apart, words(u0, u1, CODE_BITS));
    v128.store(target + 2 * apart, words(v0, v1, CODE_BITS));
  }
}

/** Converts float32 [from, end), multiples of four, in [0, 1] to fixed point, in place like `toYuv`. */
export function toFixed(values: usize, from: i32, end: i32): void {
  for (let i = from; i < end; i += 8) {
    const source = values + ((<usize>i) << 2);
    const rounded = words(v128.load(source), v128.load(source, 16), ONE_BITS);
    v128.store(values + ((<usize>i) << 1), rounded);
  }
}

/**
 * Converts samples [from, end), multiples of four, of three float32 planes in [-1, 1], which graphs may overshoot, to
 * fixed point with ONE_BITS of fraction, in place like `toYuv`.
 */
export function colorsToFixed(planes: usize, apart: usize, from: i32, end: i32): void {
  const scale = f32x4.splat(<f32>ONE);
  for (let channel: usize = 0; channel < 3; channel++) {
    for (let i = from; i < end; i += 8) {
      const source = planes + channel * apart + ((<usize>i) << 2);
      const low = integersOf(f32x4.mul(clipped(v128.load(source)), scale));
      const high = integersOf(f32x4.mul(clipped(v128.load(source, 16)), scale));
      v128.store(planes + channel * apart + ((<usize>i) << 1), i16x8.narrow_i32x4_s(low, high));
    }
  }
}

/** Eight non-negative numbers, rounded to `bits` of fraction in 16 bits. */
function words(a: v128, b: v128, bits: i32): v128 {
  const scale = f32x4.splat(<f32>(1 << bits));
  const half = f32x4.splat(0.5);
  const low = i32x4.trunc_sat_f32x4_s(f32x4.add(f32x4.mul(a, scale), half));
  const high = i32x4.trunc_sat_f32x4_s(f32x4.add(f32x4.mul(b, scale), half));
  return i16x8.narrow_i32x4_s(low, high);
}
