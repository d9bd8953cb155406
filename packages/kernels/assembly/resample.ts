import { endOf, firstOf, firstsOf, outputsOf, padded, picksOf, roomOf, tapsOf, weightsOf } from './axis';
import { CODE_BITS, ONE_BITS } from './fixed';

/**
 * Resamples the rectangle under two axes of a plane (`stride` samples per row, of this many bytes each) to float32 rows
 * in 8-bit codes at `target`, each as long as the padded outputs of `across`. `line` has room for the source columns
 * under `across` and sixteen more, two bytes each.
 */
export function resamplePlane(
  sampleBytes: i32,
  plane: usize,
  stride: i32,
  across: usize,
  down: usize,
  line: usize,
  target: usize,
): void {
  const from = firstOf(across, 0);
  const count = endOf(across) - from;
  const rows = outputsOf(down);
  const rowBytes = (<usize>padded(outputsOf(across))) << 2;
  for (let y = 0; y < rows; y++) {
    const source = plane + <usize>((firstOf(down, y) * stride + from) * sampleBytes);
    if (sampleBytes === 1) {
      mixBytes(source, stride, weightsOf(down, y), tapsOf(down), count, line);
    } else {
      mixWords(source, stride << 1, weightsOf(down, y), tapsOf(down), count, line, WORD_BITS, CODE_BITS);
    }
    resampleRow(line - ((<usize>from) << 1), across, CODE_BITS, target);
    target += rowBytes;
  }
}

/**
 * Computes row `y` of the resampling by two axes of a square plane of 16-bit numbers with `bits` of fraction, as
 * float32, as long as the padded outputs of `across`. `line` has room for a row of the plane and sixteen samples more.
 */
export function interpolateRow(
  plane: usize,
  size: i32,
  bits: i32,
  across: usize,
  down: usize,
  y: i32,
  line: usize,
  target: usize,
): void {
  const from = firstOf(across, 0);
  const source = plane + ((<usize>(firstOf(down, y) * size + from)) << 1);
  mixWords(source, size << 1, weightsOf(down, y), tapsOf(down), endOf(across) - from, line, bits, bits);
  resampleRow(line - ((<usize>from) << 1), across, bits, target);
}

/**
 * The vertical half for a row of 8-bit codes, to 16-bit numbers with CODE_BITS of fraction. Reads and writes up to
 * seven columns more than `count`.
 */
function mixBytes(source: usize, stride: i32, weights: usize, taps: i32, count: i32, target: usize): void {
  const bits = ONE_BITS - CODE_BITS;
  const half = i32x4.splat(1 << (bits - 1));
  const end = weights + ((<usize>taps) << 1);
  for (let x = 0; x < count; x += 8) {
    let low = half;
    let high = half;
    let upper = source + <usize>x;
    for (let pair = weights; pair < end; pair += 4) {
      const a = v128.load8x8_u(upper);
      const b = v128.load8x8_u(upper + <usize>stride);
      const both = v128.load32_splat(pair);
      low = i32x4.add(low, i32x4.dot_i16x8_s(lowPairs(a, b), both));
      high = i32x4.add(high, i32x4.dot_i16x8_s(highPairs(a, b), both));
      upper += (<usize>stride) << 1;
    }
    v128.store(target, i16x8.narrow_i32x4_s(i32x4.shr_s(low, bits), i32x4.shr_s(high, bits)));
    target += 16;
  }
}

/** Fraction bits of 10-bit codes as 8-bit ones. */
const WORD_BITS = 2;

/** The same for 16-bit numbers, from some `bits` of fraction to others. */
function mixWords(
  source: usize,
  stride: i32,
  weights: usize,
  taps: i32,
  count: i32,
  target: usize,
  bits: i32,
  targetBits: i32,
): void {
  const shift = ONE_BITS + bits - targetBits;
  const half = i32x4.splat(1 << (shift - 1));
  const end = weights + ((<usize>taps) << 1);
  for (let x = 0; x < count; x += 8) {
    let low = half;
    let high = half;
    let upper = source + ((<usize>x) << 1);
    for (let pair = weights; pair < end; pair += 4) {
      const a = v128.load(upper);
      const b = v128.load(upper + <usize>stride);
      const both = v128.load32_splat(pair);
      low = i32x4.add(low, i32x4.dot_i16x8_s(lowPairs(a, b), both));
      high = i32x4.add(high, i32x4.dot_i16x8_s(highPairs(a, b), both));
      upper += (<usize>stride) << 1;
    }
    v128.store(target, i16x8.narrow_i32x4_s(i32x4.shr_s(low, shift), i32x4.shr_s(high, shift)));
    target += 16;
  }
}

function lowPairs(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

function highPairs(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/**
 * The horizontal half: all outputs of an axis, as float32, from one row of 16-bit numbers with `bits` of fraction.
 * `row` is the address of the source's column 0, which may be before the data.
 */
function resampleRow(row: usize, axis: usize, bits: i32, target: usize): void {
  const scale = f32x4.splat(1.0 / <f32>(1 << (ONE_BITS + bits)));
  if (roomOf(axis) === 2) mixPairs(row, axis, scale, target);
  else mixEights(row, axis, scale, target);
}

/** For two taps. */
function mixPairs(row: usize, axis: usize, scale: v128, target: usize): void {
  let first = firstsOf(axis);
  let weights = weightsOf(axis, 0);
  const picks = picksOf(axis) - weights;
  for (const end = target + ((<usize>padded(outputsOf(axis))) << 2); target < end; target += 16) {
    const samples = v128.load(row + ((<usize>load<i32>(first)) << 1));
    const sums = i32x4.dot_i16x8_s(i8x16.swizzle(samples, v128.load(weights + picks)), v128.load(weights));
    v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(sums), scale));
    first += 16;
    weights += 16;
  }
}

/** For more taps. */
function mixEights(row: usize, axis: usize, scale: v128, target: usize): void {
  const span = (<usize>roomOf(axis)) << 1;
  let first = firstsOf(axis);
  let weights = weightsOf(axis, 0);
  for (const end = target + ((<usize>padded(outputsOf(axis))) << 2); target < end; target += 16) {
    const atA = row + ((<usize>load<i32>(first)) << 1);
    const atB = row + ((<usize>load<i32>(first, 4)) << 1);
    const atC = row + ((<usize>load<i32>(first, 8)) << 1);
    const atD = row + ((<usize>load<i32>(first, 12)) << 1);
    let a = i32x4.splat(0);
    let b = i32x4.splat(0);
    let c = i32x4.splat(0);
    let d = i32x4.splat(0);
    for (let at: usize = 0; at < span; at += 16) {
      const weight = weights + at;
      a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load(atA + at), v128.load(weight)));
      b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load(atB + at), v128.load(weight + span)));
      c = i32x4.add(c, i32x4.dot_i16x8_s(v128.load(atC + at), v128.load(weight + 2 * span)));
      d = i32x4.add(d, i32x4.dot_i16x8_s(v128.load(atD + at), v128.load(weight + 3 * span)));
    }
    const sums = neighbors(neighbors(a, b), neighbors(c, d));
    v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(sums), scale));
    first += 16;
    weights += span << 2;
  }
}

/** Sums of neighbors: 0+1, 2+3 of the first vector, then of the second. */
export function neighbors(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7));
}
