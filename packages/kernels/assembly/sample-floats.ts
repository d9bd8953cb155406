import { addBelow, integersOf, numbersFrom, originOf, placesOf } from './line';

/**
 * Samples float32 planes of `width` columns, `apart` bytes apart, at `count` positions from (x, y) on, and adds the
 * samples times `share` to as many float32 at `target`, `targetApart` bytes apart per plane. Linear interpolation.
 * Every position has samples on all its sides. If `wanted` is an address, groups of four with only zeros there are
 * skipped.
 */
export function addLinearFloats(
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
  wanted: usize,
): void {
  const left = originOf(x, stepX, count);
  const top = originOf(y, stepY, count);
  const origin = plane + ((<usize>(<i32>top * width + <i32>left)) << 2);
  const firstX = f32x4.splat(<f32>(x - left));
  const firstY = f32x4.splat(<f32>(y - top));
  const acrossX = f32x4.splat(<f32>stepX);
  const acrossY = f32x4.splat(<f32>stepY);
  const last = f32x4.splat(<f32>(count - 1));
  const end = f32x4.splat(<f32>count);
  const stride = i32x4.splat(width);
  const below = (<usize>width) << 2;
  const gain = f32x4.splat(<f32>share);
  for (let k = 0; k < count; k += 4) {
    if (wanted !== 0 && !v128.any_true(v128.load(wanted + ((<usize>k) << 2)))) continue;
    const numbers = numbersFrom(k);
    const xs = placesOf(firstX, acrossX, numbers, last);
    const ys = placesOf(firstY, acrossY, numbers, last);
    const columns = f32x4.floor(xs);
    const rows = f32x4.floor(ys);
    const offsets = i32x4.shl(i32x4.add(integersOf(columns), i32x4.mul(integersOf(rows), stride)), 2);
    const across = f32x4.sub(xs, columns);
    const down = f32x4.sub(ys, rows);
    let from = origin;
    let to = target + ((<usize>k) << 2);
    for (let i = 0; i < planes; i++) {
      const a = from + <usize>i32x4.extract_lane(offsets, 0);
      const b = from + <usize>i32x4.extract_lane(offsets, 1);
      const c = from + <usize>i32x4.extract_lane(offsets, 2);
      const d = from + <usize>i32x4.extract_lane(offsets, 3);
      const upper = betweenPairs(a, b, c, d, across);
      const lower = betweenPairs(a + below, b + below, c + below, d + below, across);
      const value = f32x4.add(upper, f32x4.mul(f32x4.sub(lower, upper), down));
      addBelow(end, numbers, to, f32x4.mul(value, gain));
      from += apart;
      to += targetApart;
    }
  }
}

/** Interpolates between two neighboring samples at each of four addresses. */
export function betweenPairs(a: usize, b: usize, c: usize, d: usize, across: v128): v128 {
  const ab = v128.load64_lane(b, v128.load64_zero(a), 1);
  const cd = v128.load64_lane(d, v128.load64_zero(c), 1);
  const left = v128.shuffle<f32>(ab, cd, 0, 2, 4, 6);
  const right = v128.shuffle<f32>(ab, cd, 1, 3, 5, 7);
  return f32x4.add(left, f32x4.mul(f32x4.sub(right, left), across));
}
