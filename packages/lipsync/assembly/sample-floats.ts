import { weightOfFirst, weightOfFourth, weightOfSecond, weightOfThird } from './cubic';
import { addBelow, integersOf, numbersFrom, originOf, placesOf } from './line';

/**
 * Adds `share` of what float32 planes of `width` columns, `apart` bytes from each other, hold at `count` places from
 * (x, y) on to as many float32 at `target`, `targetApart` bytes from one plane's to the next's. Linear between samples.
 * Every place has samples on all its sides. Where `wanted` is an address, fours with nothing but zeros there are left out.
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

/** The same, cubic: every place has two samples on all its sides. */
export function addCubicFloats(
  plane: usize,
  planes: i32,
  apart: usize,
  width: i32,
  x: f64,
  y: f64,
  stepX: f64,
  stepY: f64,
  count: i32,
  target: usize,
  targetApart: usize,
  wanted: usize,
): void {
  const left = originOf(x, stepX, count);
  const top = originOf(y, stepY, count);
  const origin = plane + ((<usize>((<i32>top - 1) * width + <i32>left - 1)) << 2);
  const firstX = f32x4.splat(<f32>(x - left));
  const firstY = f32x4.splat(<f32>(y - top));
  const acrossX = f32x4.splat(<f32>stepX);
  const acrossY = f32x4.splat(<f32>stepY);
  const last = f32x4.splat(<f32>(count - 1));
  const end = f32x4.splat(<f32>count);
  const stride = i32x4.splat(width);
  const line = (<usize>width) << 2;
  for (let k = 0; k < count; k += 4) {
    if (wanted !== 0 && !v128.any_true(v128.load(wanted + ((<usize>k) << 2)))) continue;
    const numbers = numbersFrom(k);
    const xs = placesOf(firstX, acrossX, numbers, last);
    const ys = placesOf(firstY, acrossY, numbers, last);
    const columns = f32x4.floor(xs);
    const rows = f32x4.floor(ys);
    const offsets = i32x4.shl(i32x4.add(integersOf(columns), i32x4.mul(integersOf(rows), stride)), 2);

    // From the weights of one tap for four places to the weights of all taps for one place.
    const across = f32x4.sub(xs, columns);
    const first = weightOfFirst(across);
    const second = weightOfSecond(across);
    const third = weightOfThird(across);
    const fourth = weightOfFourth(across);
    const front01 = v128.shuffle<f32>(first, second, 0, 4, 1, 5);
    const back01 = v128.shuffle<f32>(third, fourth, 0, 4, 1, 5);
    const front23 = v128.shuffle<f32>(first, second, 2, 6, 3, 7);
    const back23 = v128.shuffle<f32>(third, fourth, 2, 6, 3, 7);
    const acrossA = v128.shuffle<f32>(front01, back01, 0, 1, 4, 5);
    const acrossB = v128.shuffle<f32>(front01, back01, 2, 3, 6, 7);
    const acrossC = v128.shuffle<f32>(front23, back23, 0, 1, 4, 5);
    const acrossD = v128.shuffle<f32>(front23, back23, 2, 3, 6, 7);

    const down = f32x4.sub(ys, rows);
    const above = weightOfFirst(down);
    const at = weightOfSecond(down);
    const below = weightOfThird(down);
    const deep = weightOfFourth(down);
    const above0 = v128.shuffle<f32>(above, above, 0, 0, 0, 0);
    const above1 = v128.shuffle<f32>(above, above, 1, 1, 1, 1);
    const above2 = v128.shuffle<f32>(above, above, 2, 2, 2, 2);
    const above3 = v128.shuffle<f32>(above, above, 3, 3, 3, 3);
    const at0 = v128.shuffle<f32>(at, at, 0, 0, 0, 0);
    const at1 = v128.shuffle<f32>(at, at, 1, 1, 1, 1);
    const at2 = v128.shuffle<f32>(at, at, 2, 2, 2, 2);
    const at3 = v128.shuffle<f32>(at, at, 3, 3, 3, 3);
    const below0 = v128.shuffle<f32>(below, below, 0, 0, 0, 0);
    const below1 = v128.shuffle<f32>(below, below, 1, 1, 1, 1);
    const below2 = v128.shuffle<f32>(below, below, 2, 2, 2, 2);
    const below3 = v128.shuffle<f32>(below, below, 3, 3, 3, 3);
    const deep0 = v128.shuffle<f32>(deep, deep, 0, 0, 0, 0);
    const deep1 = v128.shuffle<f32>(deep, deep, 1, 1, 1, 1);
    const deep2 = v128.shuffle<f32>(deep, deep, 2, 2, 2, 2);
    const deep3 = v128.shuffle<f32>(deep, deep, 3, 3, 3, 3);

    let from = origin;
    let to = target + ((<usize>k) << 2);
    for (let i = 0; i < planes; i++) {
      const a = from + <usize>i32x4.extract_lane(offsets, 0);
      const b = from + <usize>i32x4.extract_lane(offsets, 1);
      const c = from + <usize>i32x4.extract_lane(offsets, 2);
      const d = from + <usize>i32x4.extract_lane(offsets, 3);
      const ab = neighbours(
        f32x4.mul(columnsAt(a, line, above0, at0, below0, deep0), acrossA),
        f32x4.mul(columnsAt(b, line, above1, at1, below1, deep1), acrossB),
      );
      const cd = neighbours(
        f32x4.mul(columnsAt(c, line, above2, at2, below2, deep2), acrossC),
        f32x4.mul(columnsAt(d, line, above3, at3, below3, deep3), acrossD),
      );
      addBelow(end, numbers, to, neighbours(ab, cd));
      from += apart;
      to += targetApart;
    }
  }
}

/** Between two neighbouring samples at each of four addresses. */
function betweenPairs(a: usize, b: usize, c: usize, d: usize, across: v128): v128 {
  const ab = v128.load64_lane(b, v128.load64_zero(a), 1);
  const cd = v128.load64_lane(d, v128.load64_zero(c), 1);
  const left = v128.shuffle<f32>(ab, cd, 0, 2, 4, 6);
  const right = v128.shuffle<f32>(ab, cd, 1, 3, 5, 7);
  return f32x4.add(left, f32x4.mul(f32x4.sub(right, left), across));
}

/** Four columns of four samples, the rows `line` bytes apart, each brought down to one. */
function columnsAt(address: usize, line: usize, above: v128, at: v128, below: v128, deep: v128): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(v128.load(address), above), f32x4.mul(v128.load(address + line), at)),
    f32x4.add(
      f32x4.mul(v128.load(address + 2 * line), below),
      f32x4.mul(v128.load(address + 3 * line), deep),
    ),
  );
}

/** Sums of neighbours: 0+1, 2+3 of the first vector, then of the second. */
function neighbours(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}
