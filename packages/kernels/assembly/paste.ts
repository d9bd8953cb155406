import { outputsOf, padded } from './axis';
import { blendRows, keepVisible } from './blend';
import { blendColors } from './blend-colors';
import { CODE_BITS, ONE_BITS } from './fixed';
import { lumaAt, strideOf, uAt, vAt } from './picture';
import { interpolateRow } from './resample';

/**
 * Blends a face, planes Y, U, V of side `size` as `toYuv` leaves them, into the rectangle of a picture of bytes that
 * begins at (`left`, `top`), both even. The axes spread the face's luma over the rectangle's pixels, its chroma over the
 * pairs of pixels, and the square mask of side `maskSize`, as `toFixed` leaves it, over the pixels. Mask weights below
 * `least` count as 0. `scratch` has room for six rows of float32 as long as the padded outputs of `across`, and for one
 * row of face or mask and sixteen samples more, two bytes each.
 */
export function pasteFace(
  picture: usize,
  left: i32,
  top: i32,
  face: usize,
  size: i32,
  across: usize,
  down: usize,
  chromaAcross: usize,
  chromaDown: usize,
  mask: usize,
  maskSize: i32,
  maskAcross: usize,
  maskDown: usize,
  least: f32,
  scratch: usize,
): void {
  const rows = outputsOf(down);
  const columns = padded(outputsOf(across));
  const rowBytes = (<usize>columns) << 2;
  const plane = (<usize>(size * size)) << 2;
  const alpha = scratch;
  const upper = alpha + 2 * rowBytes;
  const lower = upper + rowBytes;
  const uRow = lower + rowBytes;
  const vRow = uRow + rowBytes;
  const line = vRow + rowBytes;
  for (let y = 0; y < rows; y += 2) {
    interpolateRow(mask, maskSize, ONE_BITS, maskAcross, maskDown, y, line, alpha);
    interpolateRow(mask, maskSize, ONE_BITS, maskAcross, maskDown, y + 1, line, alpha + rowBytes);
    if (keepVisible(alpha, 2 * columns, least)) {
      interpolateRow(face, size, CODE_BITS, across, down, y, line, upper);
      interpolateRow(face, size, CODE_BITS, across, down, y + 1, line, lower);
      interpolateRow(face + plane, size, CODE_BITS, chromaAcross, chromaDown, y >> 1, line, uRow);
      interpolateRow(face + 2 * plane, size, CODE_BITS, chromaAcross, chromaDown, y >> 1, line, vRow);
      const row = top + y;
      const luma = lumaAt<u8>(picture, left, row);
      blendRows(
        luma,
        strideOf(picture),
        uAt<u8>(picture, left, row),
        vAt<u8>(picture, left, row),
        columns,
        upper,
        alpha,
      );
    }
  }
}

/**
 * The same for a picture of words, from a face in colors, planes R, G, B as `colorsToFixed` leaves them; `factors` are
 * those of FromRgb and `tone` as `toSignal` needs it. All colors take the axes of luma, because what they are to the
 * picture is only known for whole pixels. `scratch` has room for eight rows, and for the same row and samples more.
 */
export function pasteColors(
  picture: usize,
  left: i32,
  top: i32,
  face: usize,
  size: i32,
  across: usize,
  down: usize,
  mask: usize,
  maskSize: i32,
  maskAcross: usize,
  maskDown: usize,
  least: f32,
  factors: usize,
  tone: usize,
  scratch: usize,
): void {
  const rows = outputsOf(down);
  const columns = padded(outputsOf(across));
  const rowBytes = (<usize>columns) << 2;
  const plane = (<usize>(size * size)) << 2;
  const alpha = scratch;
  const rgb = alpha + 2 * rowBytes;
  const line = rgb + 6 * rowBytes;
  for (let y = 0; y < rows; y += 2) {
    interpolateRow(mask, maskSize, ONE_BITS, maskAcross, maskDown, y, line, alpha);
    interpolateRow(mask, maskSize, ONE_BITS, maskAcross, maskDown, y + 1, line, alpha + rowBytes);
    if (!keepVisible(alpha, 2 * columns, least)) continue;
    for (let channel: usize = 0; channel < 3; channel++) {
      const upper = rgb + 2 * channel * rowBytes;
      interpolateRow(face + channel * plane, size, ONE_BITS, across, down, y, line, upper);
      interpolateRow(face + channel * plane, size, ONE_BITS, across, down, y + 1, line, upper + rowBytes);
    }
    blendColors(picture, left, top + y, columns, rgb, alpha, factors, tone);
  }
}
