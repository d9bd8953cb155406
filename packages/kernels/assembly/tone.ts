import { clipped, unit, weighted } from './color';
import { perCode } from './fixed';
import { integersOf } from './line';
import { betweenPairs } from './sample-floats';

/**
 * How the colors of a picture of words appear in SDR, at an address. By one curve the signals R', G' and B' become
 * levels, in which the picture's primaries are mixed to those of SDR; the shoulder brings the highlights below 1.
 *
 * Layout: the six values of ToRgb in their order, the 3 × 3 weights of the mixture and of its inverse, where the
 * shoulder begins and how fast it bends (float32); the addresses of the curve and of its inverse (int32), 0 if levels
 * are the signals.
 */
const MIXTURE: usize = 24;
const INVERSE: usize = 60;
const SHOULDER: usize = 96;
const CURVE: usize = 104;

/** Converts three float32 planes of codes Y, U, V in place to SDR's R, G, B in [-1, 1]. `area` is a multiple of four. */
export function toSdr(planes: usize, area: i32, tone: usize): void {
  const plane = (<usize>area) << 2;
  const curve = <usize>load<i32>(tone, CURVE);
  for (let at = planes, end = planes + plane; at < end; at += 16) {
    const y = luma(v128.load(at), tone);
    const u = f32x4.sub(v128.load(at + plane), f32x4.splat(128));
    const v = f32x4.sub(v128.load(at + 2 * plane), f32x4.splat(128));
    const red = along(curve, redOf(y, v, tone));
    const green = along(curve, greenOf(y, u, v, tone));
    const blue = along(curve, blueOf(y, u, tone));
    v128.store(at, signed(softened(weighted(red, green, blue, tone + MIXTURE), tone)));
    v128.store(at + plane, signed(softened(weighted(red, green, blue, tone + MIXTURE + 12), tone)));
    v128.store(at + 2 * plane, signed(softened(weighted(red, green, blue, tone + MIXTURE + 24), tone)));
  }
}

/**
 * Converts a row of SDR colors in place to signals of a picture, to which it will be blended: float32 R, G and B in
 * [-1, 1] at `rgb`, `apart` bytes apart, become R', G' and B', 0 black and 1 full. What the picture has at the same
 * place and SDR cannot show, which the network has not seen, is added. So a color that equals what `toSdr` makes of the
 * picture's becomes the picture's. `y`, `u` and `v` are the addresses of the picture's samples, of which chroma counts
 * for pairs of pixels. `columns` is a multiple of four. Groups of four with only zeros at `alpha` are skipped.
 */
export function toSignal(
  rgb: usize,
  apart: usize,
  y: usize,
  u: usize,
  v: usize,
  columns: i32,
  alpha: usize,
  tone: usize,
): void {
  const curve = <usize>load<i32>(tone, CURVE);
  const inverse = <usize>load<i32>(tone, CURVE + 4);
  for (let x: usize = 0; x < <usize>columns; x += 4) {
    if (!v128.any_true(v128.load(alpha + (x << 2)))) continue;
    const light = luma(codes(v128.load16x4_u(y + (x << 1))), tone);
    const blueness = f32x4.sub(twice(u + x), f32x4.splat(128));
    const redness = f32x4.sub(twice(v + x), f32x4.splat(128));
    const red = along(curve, redOf(light, redness, tone));
    const green = along(curve, greenOf(light, blueness, redness, tone));
    const blue = along(curve, blueOf(light, blueness, tone));
    const at = rgb + (x << 2);
    const newRed = replaced(at, red, green, blue, tone + MIXTURE, tone);
    const newGreen = replaced(at + apart, red, green, blue, tone + MIXTURE + 12, tone);
    const newBlue = replaced(at + 2 * apart, red, green, blue, tone + MIXTURE + 24, tone);
    v128.store(at, along(inverse, weighted(newRed, newGreen, newBlue, tone + INVERSE)));
    v128.store(at + apart, along(inverse, weighted(newRed, newGreen, newBlue, tone + INVERSE + 12)));
    v128.store(at + 2 * apart, along(inverse, weighted(newRed, newGreen, newBlue, tone + INVERSE + 24)));
  }
}

/** The new level of one of SDR's primaries: the network's color at an address, and what is beyond SDR of the old one. */
function replaced(color: usize, red: v128, green: v128, blue: v128, weights: usize, tone: usize): v128 {
  const old = softened(weighted(red, green, blue, weights), tone);
  const seen = f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), old));
  return hardened(f32x4.add(unit(v128.load(color)), f32x4.sub(old, seen)), tone);
}

/** Levels from the beginning of the shoulder on approach a limit slightly above 1. */
function softened(levels: v128, tone: usize): v128 {
  const begin = v128.load32_splat(tone, SHOULDER);
  if (!v128.any_true(f32x4.gt(levels, begin))) return levels;
  const above = f32x4.pmax(f32x4.splat(0), f32x4.sub(levels, begin));
  const bend = f32x4.add(f32x4.splat(1), f32x4.mul(above, v128.load32_splat(tone, SHOULDER + 4)));
  return f32x4.add(f32x4.pmin(begin, levels), f32x4.div(above, bend));
}

/** The inverse of `softened`. */
function hardened(levels: v128, tone: usize): v128 {
  const begin = v128.load32_splat(tone, SHOULDER);
  if (!v128.any_true(f32x4.gt(levels, begin))) return levels;
  const above = f32x4.pmax(f32x4.splat(0), f32x4.sub(levels, begin));
  const bend = f32x4.sub(f32x4.splat(1), f32x4.mul(above, v128.load32_splat(tone, SHOULDER + 4)));
  return f32x4.add(f32x4.pmin(begin, levels), f32x4.div(above, bend));
}

/**
 * Values along a curve of straight lines; before and after its points the first and the last one go on. Layout: the
 * place of the first point, points per unit, the number of the last point but one, then the values of the points
 * (float32).
 */
function along(curve: usize, places: v128): v128 {
  if (curve === 0) return places;
  const first = v128.load32_splat(curve);
  const numbers = f32x4.mul(f32x4.sub(places, first), v128.load32_splat(curve, 4));
  const last = v128.load32_splat(curve, 8);
  const points = f32x4.pmin(last, f32x4.pmax(f32x4.splat(0), f32x4.floor(numbers)));
  const offsets = i32x4.shl(integersOf(points), 2);
  const values = curve + 12;
  const a = values + <usize>i32x4.extract_lane(offsets, 0);
  const b = values + <usize>i32x4.extract_lane(offsets, 1);
  const c = values + <usize>i32x4.extract_lane(offsets, 2);
  const d = values + <usize>i32x4.extract_lane(offsets, 3);
  return betweenPairs(a, b, c, d, f32x4.sub(numbers, points));
}

/** Four words as codes. */
function codes(words: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_u(words), f32x4.splat(1 / perCode<u16>()));
}

/** Two words as codes, each twice. */
function twice(address: usize): v128 {
  const pair = v128.load32_zero(address);
  return codes(i8x16.swizzle(pair, i8x16(0, 1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 2, 3, -1, -1)));
}

/** From [0, 1], with what is beyond cut off, to [-1, 1]. */
function signed(levels: v128): v128 {
  return clipped(f32x4.sub(f32x4.add(levels, levels), f32x4.splat(1)));
}

function luma(code: v128, tone: usize): v128 {
  return f32x4.mul(f32x4.sub(code, v128.load32_splat(tone)), v128.load32_splat(tone, 4));
}

function redOf(y: v128, v: v128, tone: usize): v128 {
  return f32x4.add(y, f32x4.mul(v, v128.load32_splat(tone, 8)));
}

function greenOf(y: v128, u: v128, v: v128, tone: usize): v128 {
  const fromU = f32x4.mul(u, v128.load32_splat(tone, 12));
  return f32x4.add(y, f32x4.add(fromU, f32x4.mul(v, v128.load32_splat(tone, 16))));
}

function blueOf(y: v128, u: v128, tone: usize): v128 {
  return f32x4.add(y, f32x4.mul(u, v128.load32_splat(tone, 20)));
}
