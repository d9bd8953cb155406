import { outputsOf, padded } from './axis';
import { blendRows, keepVisible } from './blend';
import { interpolateRow } from './resample';

/**
 * Blends a face, three float32 planes of side `size` with R, G, B in [-1, 1], into a rectangle of a yuv420p picture
 * whose first samples are at `luma`, `u` and `v`. The axes spread the face, and the square mask of side `maskSize`,
 * over the rectangle's pixels; mask weights below `least` count as 0. `scratch` has room for eight rows as long as the
 * padded outputs of `across`, and for one row of face or mask and three samples more.
 */
export function pasteFace(
  luma: usize,
  stride: i32,
  u: usize,
  v: usize,
  chromaStride: i32,
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
    interpolateRow(mask, maskSize, maskAcross, maskDown, y, line, alpha);
    interpolateRow(mask, maskSize, maskAcross, maskDown, y + 1, line, alpha + rowBytes);
    if (keepVisible(alpha, 2 * columns, least)) {
      for (let channel: usize = 0; channel < 3; channel++) {
        const target = rgb + 2 * channel * rowBytes;
        interpolateRow(face + channel * plane, size, across, down, y, line, target);
        interpolateRow(face + channel * plane, size, across, down, y + 1, line, target + rowBytes);
      }
      blendRows(luma, stride, u, v, columns, rgb, alpha, factors);
    }
    luma += (<usize>stride) << 1;
    u += chromaStride;
    v += chromaStride;
  }
}
