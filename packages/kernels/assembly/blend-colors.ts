import { anyShown, blendEight, blendFour, pairs } from './blend';
import { unit, weighted } from './color';
import { lumaAt, strideOf, uAt, vAt } from './picture';
import { toSignal } from './tone';

/**
 * Blends colors into two rows of a picture from (`column`, `row`) on, both even: `rgb` holds rows R, R, G, G, B, B of
 * `columns` (a multiple of eight) float32 in [-1, 1], `alpha` two rows, `factors` ten float32, those of FromRgb in
 * their order. A picture with a `tone` (0 for none) has words, another one bytes.
 */
export function blendColors(
  picture: usize,
  column: i32,
  row: i32,
  columns: i32,
  rgb: usize,
  alpha: usize,
  factors: usize,
  tone: usize,
): void {
  const stride = strideOf(picture);
  if (tone === 0) {
    const y = lumaAt<u8>(picture, column, row);
    const u = uAt<u8>(picture, column, row);
    const v = vAt<u8>(picture, column, row);
    blendShown<u8>(y, stride, u, v, columns, rgb, alpha, factors);
    return;
  }
  const y = lumaAt<u16>(picture, column, row);
  const u = uAt<u16>(picture, column, row);
  const v = vAt<u16>(picture, column, row);
  const rowBytes = (<usize>columns) << 2;
  for (let k: usize = 0; k < 2; k++) {
    const line = rgb + k * rowBytes;
    toSignal(line, 2 * rowBytes, y + k * <usize>stride, u, v, columns, alpha + k * rowBytes, tone);
  }
  blendShown<u16>(y, stride, u, v, columns, rgb, alpha, factors);
}

/**
 * The same for bytes or words; the colors of words are those that `toSignal` leaves. A chroma sample takes the mean of
 * its four pixels, each weighted by its own alpha, so that a pixel which is not shown contributes no color.
 */
function blendShown<T>(
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
  const gray = f32x4.splat(128);
  for (let x = 0; x < columns; x += 8) {
    const offset = (<usize>x) << 2;
    if (!anyShown(alpha + offset, row)) continue;
    let reds = f32x4.splat(0);
    let greens = f32x4.splat(0);
    let blues = f32x4.splat(0);
    let alphas = f32x4.splat(0);
    for (let k: usize = 0; k < 2; k++) {
      const line = rgb + offset + k * row;
      const r0 = colors<T>(v128.load(line));
      const r1 = colors<T>(v128.load(line, 16));
      const g0 = colors<T>(v128.load(line + 2 * row));
      const g1 = colors<T>(v128.load(line + 2 * row, 16));
      const b0 = colors<T>(v128.load(line + 4 * row));
      const b1 = colors<T>(v128.load(line + 4 * row, 16));
      const a0 = v128.load(alpha + offset + k * row);
      const a1 = v128.load(alpha + offset + k * row, 16);
      const black = v128.load32_splat(factors);
      const y0 = f32x4.add(black, weighted(r0, g0, b0, factors + 4));
      const y1 = f32x4.add(black, weighted(r1, g1, b1, factors + 4));
      blendEight<T>(luma + <usize>x * sizeof<T>() + k * <usize>stride, y0, y1, a0, a1);
      reds = f32x4.add(reds, pairs(f32x4.mul(r0, a0), f32x4.mul(r1, a1)));
      greens = f32x4.add(greens, pairs(f32x4.mul(g0, a0), f32x4.mul(g1, a1)));
      blues = f32x4.add(blues, pairs(f32x4.mul(b0, a0), f32x4.mul(b1, a1)));
      alphas = f32x4.add(alphas, pairs(a0, a1));
    }
    // NaN where nothing is shown; not used there.
    const share = f32x4.div(f32x4.splat(1), alphas);
    const shown = f32x4.mul(alphas, f32x4.splat(0.25));
    const chroma = <usize>(x >> 1) * sizeof<T>();
    const uValue = f32x4.mul(weighted(reds, greens, blues, factors + 16), share);
    const vValue = f32x4.mul(weighted(reds, greens, blues, factors + 28), share);
    blendFour<T>(u + chroma, f32x4.add(gray, uValue), shown);
    blendFour<T>(v + chroma, f32x4.add(gray, vValue), shown);
  }
}

function colors<T>(values: v128): v128 {
  return sizeof<T>() === 1 ? unit(values) : values;
}
