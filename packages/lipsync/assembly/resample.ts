import { endOf, firstOf, firstsOf, outputsOf, padded, tapsOf, weightsOf } from './axis';

/** Fixed point of the weights that are multiplied with 8-bit samples: two products and their sum fit 32 bits. */
const ONE = 16384;

/**
 * Resamples the rectangle under two axes of an 8-bit plane (`stride` bytes per row) to float32 rows at `target`, each
 * as long as the padded outputs of `across`. `fixed` has room for the taps of `down`, two bytes each, `line` for the
 * source columns under `across` and seven more, four bytes each.
 */
export function resamplePlane(
  plane: usize,
  stride: i32,
  across: usize,
  down: usize,
  fixed: usize,
  line: usize,
  target: usize,
): void {
  const from = firstOf(across, 0);
  const count = endOf(across) - from;
  const taps = tapsOf(down);
  const rows = outputsOf(down);
  const rowBytes = (<usize>padded(outputsOf(across))) << 2;
  for (let y = 0; y < rows; y++) {
    quantise(weightsOf(down, y), taps, fixed);
    resampleBytes(plane + <usize>(firstOf(down, y) * stride + from), stride, fixed, taps, count, line);
    resampleRow(line - ((<usize>from) << 2), across, target);
    target += rowBytes;
  }
}

/**
 * Brings the weights of one output to fixed point, taps 2j and 2j+1 as the halves of a 32-bit word. They are rounded so
 * that they add up to exactly one: flat areas keep their value.
 */
function quantise(weights: usize, taps: i32, fixed: usize): void {
  let owed: f32 = 0;
  for (let t = 0; t < taps; t++) {
    const exact = load<f32>(weights) * <f32>ONE + owed;
    const rounded = nearest<f32>(exact);
    owed = exact - rounded;
    store<i16>(fixed + ((<usize>t) << 1), <i16>rounded);
    weights += (t & 1) === 0 ? 4 : 12;
  }
}

/** One row of the vertical half for 8-bit samples; reads and writes up to seven columns more than `count`. */
function resampleBytes(source: usize, stride: i32, fixed: usize, taps: i32, count: i32, target: usize): void {
  const scale = f32x4.splat(1.0 / <f32>ONE);
  const pairs = fixed + ((<usize>taps) << 1);
  for (let x = 0; x < count; x += 8) {
    let low = i32x4.splat(0);
    let high = i32x4.splat(0);
    let upper = source + <usize>x;
    for (let pair = fixed; pair < pairs; pair += 4) {
      const a = v128.load8x8_u(upper);
      const b = v128.load8x8_u(upper + <usize>stride);
      const both = v128.load32_splat(pair);
      low = i32x4.add(low, i32x4.dot_i16x8_s(v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11), both));
      high = i32x4.add(high, i32x4.dot_i16x8_s(v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15), both));
      upper += (<usize>stride) << 1;
    }
    v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(low), scale));
    v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(high), scale), 16);
    target += 32;
  }
}

/**
 * Row `y` of what two axes make of a square float32 plane of side `size`, as long as the padded outputs of `across`.
 * `line` has room for one row of the plane and three samples more.
 */
export function interpolateRow(
  plane: usize,
  size: i32,
  across: usize,
  down: usize,
  y: i32,
  line: usize,
  target: usize,
): void {
  // Whole fours: sixteen bytes are moved at once.
  const from = firstOf(across, 0) & ~3;
  const bytes = (<usize>(endOf(across) - from)) << 2;
  const stride = (<usize>size) << 2;
  const source = plane + <usize>firstOf(down, y) * stride + ((<usize>from) << 2);
  const weights = weightsOf(down, y);
  const end = weights + ((<usize>tapsOf(down)) << 3);
  for (let x: usize = 0; x < bytes; x += 16) {
    let sum = f32x4.splat(0);
    let sample = source + x;
    for (let weight = weights; weight < end; weight += 16) {
      const upper = f32x4.mul(v128.load(sample), v128.load32_splat(weight));
      const lower = f32x4.mul(v128.load(sample + stride), v128.load32_splat(weight, 4));
      sum = f32x4.add(sum, f32x4.add(upper, lower));
      sample += stride << 1;
    }
    v128.store(line + x, sum);
  }
  resampleRow(line - ((<usize>from) << 2), across, target);
}

/** All outputs of an axis from one float32 row; `row` is where the source's column 0 would lie. */
function resampleRow(row: usize, axis: usize, target: usize): void {
  // Four outputs at a time; each half of a vector gathers the even and the odd taps of one.
  const columns = padded(outputsOf(axis));
  const span = (<usize>tapsOf(axis)) << 2;
  let first = firstsOf(axis);
  let weights = weightsOf(axis, 0);
  for (let x = 0; x < columns; x += 4) {
    const a = row + ((<usize>load<i32>(first)) << 2);
    const b = row + ((<usize>load<i32>(first, 4)) << 2);
    const c = row + ((<usize>load<i32>(first, 8)) << 2);
    const d = row + ((<usize>load<i32>(first, 12)) << 2);
    let left = f32x4.splat(0);
    let right = f32x4.splat(0);
    for (let at: usize = 0; at < span; at += 8) {
      const weight = weights + (at << 1);
      const ab = v128.load64_lane(b + at, v128.load64_zero(a + at), 1);
      const cd = v128.load64_lane(d + at, v128.load64_zero(c + at), 1);
      left = f32x4.add(left, f32x4.mul(ab, v128.load(weight)));
      right = f32x4.add(right, f32x4.mul(cd, v128.load(weight + (span << 1))));
    }
    const even = v128.shuffle<f32>(left, right, 0, 2, 4, 6);
    v128.store(target, f32x4.add(even, v128.shuffle<f32>(left, right, 1, 3, 5, 7)));
    first += 16;
    weights += span << 2;
    target += 16;
  }
}
