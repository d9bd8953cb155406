import { weightOfFirst, weightOfFourth, weightOfThird } from './cubic';
import { fixed, halves, ONE, perCode, rest } from './fixed';
import { addBelow, integersOf, numbersFrom, originOf, placesOf } from './line';

/**
 * Samples planes of `width` columns of bytes or words, `apart` bytes apart, at `count` positions from (x, y) on, and
 * adds the samples, in 8-bit codes, times `share` to as many float32 at `target`, `targetApart` bytes apart per plane.
 * Linear interpolation. Every position has samples on all its sides.
 */
export function addLinearCodes<T>(
  plane: usize,
  planes: i32,
  apart: usize,
  width: i32,
  x: f64,
  y: f64,
  stepX: f64,
  stepY: f64,
  count: i32,
  share: f64,
  target: usize,
  targetApart: usize,
): void {
  const left = originOf(x, stepX, count);
  const top = originOf(y, stepY, count);
  const origin = plane + <usize>(<i32>top * width + <i32>left) * sizeof<T>();
  const firstX = f32x4.splat(<f32>(x - left));
  const firstY = f32x4.splat(<f32>(y - top));
  const acrossX = f32x4.splat(<f32>stepX);
  const acrossY = f32x4.splat(<f32>stepY);
  const last = f32x4.splat(<f32>(count - 1));
  const end = f32x4.splat(<f32>count);
  const stride = i32x4.splat(width);
  const gain = f32x4.splat(<f32>(share / <f64>ONE / <f64>perCode<T>()));
  for (let k = 0; k < count; k += 4) {
    const numbers = numbersFrom(k);
    const xs = placesOf(firstX, acrossX, numbers, last);
    const ys = placesOf(firstY, acrossY, numbers, last);
    const columns = f32x4.floor(xs);
    const rows = f32x4.floor(ys);
    const offsets = inBytes<T>(i32x4.add(integersOf(columns), i32x4.mul(integersOf(rows), stride)));
    const rights = fixed(f32x4.sub(xs, columns));
    const weights = halves(i32x4.sub(i32x4.splat(ONE), rights), rights);
    const down = f32x4.sub(ys, rows);
    let from = origin;
    let to = target + ((<usize>k) << 2);
    for (let i = 0; i < planes; i++) {
      const a = from + <usize>i32x4.extract_lane(offsets, 0);
      const b = from + <usize>i32x4.extract_lane(offsets, 1);
      const c = from + <usize>i32x4.extract_lane(offsets, 2);
      const d = from + <usize>i32x4.extract_lane(offsets, 3);
      const upper = pairsAt<T>(a, b, c, d, weights);
      const w = <usize>width * sizeof<T>();
      const lower = pairsAt<T>(a + w, b + w, c + w, d + w, weights);
      const value = f32x4.add(upper, f32x4.mul(f32x4.sub(lower, upper), down));
      addBelow(end, numbers, to, f32x4.mul(value, gain));
      from += apart;
      to += targetApart;
    }
  }
}

/** The same for one plane, with cubic interpolation: every position has two samples on all its sides. */
export function addCubicCodes<T>(
  plane: usize,
  width: i32,
  x: f64,
  y: f64,
  stepX: f64,
  stepY: f64,
  count: i32,
  target: usize,
): void {
  const left = originOf(x, stepX, count);
  const top = originOf(y, stepY, count);
  const origin = plane + <usize>((<i32>top - 1) * width + <i32>left - 1) * sizeof<T>();
  const firstX = f32x4.splat(<f32>(x - left));
  const firstY = f32x4.splat(<f32>(y - top));
  const acrossX = f32x4.splat(<f32>stepX);
  const acrossY = f32x4.splat(<f32>stepY);
  const last = f32x4.splat(<f32>(count - 1));
  const end = f32x4.splat(<f32>count);
  const stride = i32x4.splat(width);
  const w = <usize>width * sizeof<T>();
  const gain = f32x4.splat(1.0 / (<f32>ONE * perCode<T>()));
  for (let k = 0; k < count; k += 4) {
    const numbers = numbersFrom(k);
    const xs = placesOf(firstX, acrossX, numbers, last);
    const ys = placesOf(firstY, acrossY, numbers, last);
    const columns = f32x4.floor(xs);
    const rows = f32x4.floor(ys);
    const offsets = inBytes<T>(i32x4.add(integersOf(columns), i32x4.mul(integersOf(rows), stride)));

    const across = f32x4.sub(xs, columns);
    const first = fixed(weightOfFirst(across));
    const third = fixed(weightOfThird(across));
    const fourth = fixed(weightOfFourth(across));
    const front = halves(first, rest(first, third, fourth));
    const back = halves(third, fourth);

    const a = origin + <usize>i32x4.extract_lane(offsets, 0);
    const b = origin + <usize>i32x4.extract_lane(offsets, 1);
    const c = origin + <usize>i32x4.extract_lane(offsets, 2);
    const d = origin + <usize>i32x4.extract_lane(offsets, 3);
    const line0 = foursAt<T>(a, b, c, d, front, back);
    const line1 = foursAt<T>(a + w, b + w, c + w, d + w, front, back);
    const line2 = foursAt<T>(a + 2 * w, b + 2 * w, c + 2 * w, d + 2 * w, front, back);
    const line3 = foursAt<T>(a + 3 * w, b + 3 * w, c + 3 * w, d + 3 * w, front, back);

    const down = f32x4.sub(ys, rows);
    const above = weightOfFirst(down);
    const below = weightOfThird(down);
    const deep = weightOfFourth(down);
    const at = f32x4.sub(f32x4.sub(f32x4.splat(1), above), f32x4.add(below, deep));
    const sum = f32x4.add(
      f32x4.add(f32x4.mul(line0, above), f32x4.mul(line1, at)),
      f32x4.add(f32x4.mul(line2, below), f32x4.mul(line3, deep)),
    );
    addBelow(end, numbers, target + ((<usize>k) << 2), f32x4.mul(sum, gain));
  }
}

function inBytes<T>(samples: v128): v128 {
  return sizeof<T>() === 1 ? samples : i32x4.shl(samples, 1);
}

/** For two neighboring samples at four addresses: the sums of their products with the weights. */
function pairsAt<T>(a: usize, b: usize, c: usize, d: usize, weights: v128): v128 {
  if (sizeof<T>() === 2) {
    let words = v128.load32_zero(a);
    words = v128.load32_lane(b, words, 1);
    words = v128.load32_lane(c, words, 2);
    words = v128.load32_lane(d, words, 3);
    return f32x4.convert_i32x4_s(i32x4.dot_i16x8_s(words, weights));
  }
  let samples = v128.load16_lane(a, i32x4.splat(0), 0);
  samples = v128.load16_lane(b, samples, 1);
  samples = v128.load16_lane(c, samples, 2);
  samples = v128.load16_lane(d, samples, 3);
  return f32x4.convert_i32x4_s(i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(samples), weights));
}

/**
 * For four neighboring samples at four addresses: the sums of their products with the weights of the first two and the
 * last two.
 */
function foursAt<T>(a: usize, b: usize, c: usize, d: usize, front: v128, back: v128): v128 {
  if (sizeof<T>() === 2) {
    const ab = v128.load64_lane(b, v128.load64_zero(a), 1);
    const cd = v128.load64_lane(d, v128.load64_zero(c), 1);
    const firsts = i32x4.dot_i16x8_s(v128.shuffle<i32>(ab, cd, 0, 2, 4, 6), front);
    const lasts = i32x4.dot_i16x8_s(v128.shuffle<i32>(ab, cd, 1, 3, 5, 7), back);
    return f32x4.convert_i32x4_s(i32x4.add(firsts, lasts));
  }
  let samples = v128.load32_zero(a);
  samples = v128.load32_lane(b, samples, 1);
  samples = v128.load32_lane(c, samples, 2);
  samples = v128.load32_lane(d, samples, 3);
  // Byte -1 selects nothing and gives 0.
  const fronts = i8x16.swizzle(samples, i8x16(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
  const backs = i8x16.swizzle(samples, i8x16(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1));
  return f32x4.convert_i32x4_s(i32x4.add(i32x4.dot_i16x8_s(fronts, front), i32x4.dot_i16x8_s(backs, back)));
}
