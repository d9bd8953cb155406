import { weightOfFirst, weightOfFourth, weightOfThird } from './cubic';
import { fixed, halves, ONE, rest } from './fixed';
import { addBelow, integersOf, numbersFrom, originOf, placesOf, roundedBits } from './line';
import { neighbors } from './resample';

/** Fixed point of the paired samples, whose values are between −8 and 8. */
const UNIT: f32 = 4096;
const LARGEST: f32 = 7.99;

/**
 * Pairs every sample of the rows [from, to) of a float32 plane of `width` columns with the one below, as the low and
 * the high half of a word of `target`, which has the layout of the plane. The last row stays alone. Writes up to three
 * words after the last pair.
 */
export function pairRows(plane: usize, width: i32, from: i32, to: i32, target: usize): void {
  const stride = (<usize>width) << 2;
  const end = plane + <usize>(to - 1) * stride;
  target += <usize>from * stride;
  for (let at = plane + <usize>from * stride; at < end; at += 16) {
    v128.store(target, halves(sixteenBit(v128.load(at)), sixteenBit(v128.load(at + stride))));
    target += 16;
  }
}

function sixteenBit(values: v128): v128 {
  const inside = f32x4.pmin(f32x4.splat(LARGEST), f32x4.pmax(f32x4.splat(-LARGEST), values));
  return roundedBits(f32x4.mul(inside, f32x4.splat(UNIT)));
}

/**
 * Samples paired planes (see above) of `width` columns, `apart` bytes apart, at `count` positions from (x, y) on, and
 * adds the samples to as many float32 at `target`, `targetApart` bytes apart per plane. Cubic interpolation: every
 * position has two samples on all its sides. Groups of four with only zeros at `wanted` are skipped.
 */
export function addCubicPairs(
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
  const twoRows = (<usize>width) << 3;
  // Two weights are multiplied, and fifteen bits of the product dropped.
  const gain = f32x4.splat(32768.0 / (<f32>ONE * <f32>ONE * UNIT));
  for (let k = 0; k < count; k += 4) {
    if (!v128.any_true(v128.load(wanted + ((<usize>k) << 2)))) continue;
    const numbers = numbersFrom(k);
    const xs = placesOf(firstX, acrossX, numbers, last);
    const ys = placesOf(firstY, acrossY, numbers, last);
    const columns = f32x4.floor(xs);
    const rows = f32x4.floor(ys);
    const offsets = i32x4.shl(i32x4.add(integersOf(columns), i32x4.mul(integersOf(rows), stride)), 2);

    // From the weights of one column for four positions to the weights of all columns for one position, twice each.
    const across = f32x4.sub(xs, columns);
    const first = fixed(weightOfFirst(across));
    const third = fixed(weightOfThird(across));
    const fourth = fixed(weightOfFourth(across));
    const second = rest(first, third, fourth);
    const firsts = halves(first, first);
    const seconds = halves(second, second);
    const thirds = halves(third, third);
    const fourths = halves(fourth, fourth);
    const front01 = v128.shuffle<i32>(firsts, seconds, 0, 4, 1, 5);
    const back01 = v128.shuffle<i32>(thirds, fourths, 0, 4, 1, 5);
    const front23 = v128.shuffle<i32>(firsts, seconds, 2, 6, 3, 7);
    const back23 = v128.shuffle<i32>(thirds, fourths, 2, 6, 3, 7);
    const acrossA = v128.shuffle<i64>(front01, back01, 0, 2);
    const acrossB = v128.shuffle<i64>(front01, back01, 1, 3);
    const acrossC = v128.shuffle<i64>(front23, back23, 0, 2);
    const acrossD = v128.shuffle<i64>(front23, back23, 1, 3);

    // The same for the rows, then their products.
    const down = f32x4.sub(ys, rows);
    const above = fixed(weightOfFirst(down));
    const below = fixed(weightOfThird(down));
    const deep = fixed(weightOfFourth(down));
    const upper = halves(above, rest(above, below, deep));
    const lower = halves(below, deep);
    const upperA = i16x8.q15mulr_sat_s(acrossA, v128.shuffle<i32>(upper, upper, 0, 0, 0, 0));
    const upperB = i16x8.q15mulr_sat_s(acrossB, v128.shuffle<i32>(upper, upper, 1, 1, 1, 1));
    const upperC = i16x8.q15mulr_sat_s(acrossC, v128.shuffle<i32>(upper, upper, 2, 2, 2, 2));
    const upperD = i16x8.q15mulr_sat_s(acrossD, v128.shuffle<i32>(upper, upper, 3, 3, 3, 3));
    const lowerA = i16x8.q15mulr_sat_s(acrossA, v128.shuffle<i32>(lower, lower, 0, 0, 0, 0));
    const lowerB = i16x8.q15mulr_sat_s(acrossB, v128.shuffle<i32>(lower, lower, 1, 1, 1, 1));
    const lowerC = i16x8.q15mulr_sat_s(acrossC, v128.shuffle<i32>(lower, lower, 2, 2, 2, 2));
    const lowerD = i16x8.q15mulr_sat_s(acrossD, v128.shuffle<i32>(lower, lower, 3, 3, 3, 3));

    let a = origin + <usize>i32x4.extract_lane(offsets, 0);
    let b = origin + <usize>i32x4.extract_lane(offsets, 1);
    let c = origin + <usize>i32x4.extract_lane(offsets, 2);
    let d = origin + <usize>i32x4.extract_lane(offsets, 3);
    let to = target + ((<usize>k) << 2);
    for (let i = 0; i < planes; i++) {
      const ab = neighbors(
        columnsAt(a, a + twoRows, upperA, lowerA),
        columnsAt(b, b + twoRows, upperB, lowerB),
      );
      const cd = neighbors(
        columnsAt(c, c + twoRows, upperC, lowerC),
        columnsAt(d, d + twoRows, upperD, lowerD),
      );
      addBelow(end, numbers, to, f32x4.mul(f32x4.convert_i32x4_s(neighbors(ab, cd)), gain));
      a += apart;
      b += apart;
      c += apart;
      d += apart;
      to += targetApart;
    }
  }
}

/** Four columns of four samples, in pairs at two addresses, each reduced to one. */
function columnsAt(above: usize, below: usize, upper: v128, lower: v128): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(v128.load(above), upper), i32x4.dot_i16x8_s(v128.load(below), lower));
}
