import { padded } from './axis';
import { keepVisible } from './blend';
import { blendColors } from './blend-colors';
import { pairRows } from './sample-pairs';
import { sampleRow } from './sample-row';
import { isCubic } from './sampling';

/**
 * Blends a face, three float32 planes of side `size` with R, G, B in [-1, 1], into a picture, weighted by a mask of the
 * same size. Only rows [firstRow, endRow) of the face are needed; `paired` has the same size as the face. `spans` holds
 * two int32 per pair of rows, from the even row `top` on: the first column, which is even, and the number of columns
 * (even), none if not above 0. Mask weights below `least` count as 0. `factors` and `tone` as `blendColors` needs
 * them. `scratch` has room for eight rows of the longest padded span.
 */
export function pasteAligned(
  picture: usize,
  top: i32,
  pairs: i32,
  spans: usize,
  face: usize,
  size: i32,
  firstRow: i32,
  endRow: i32,
  paired: usize,
  faceSampling: usize,
  mask: usize,
  maskSampling: usize,
  least: f32,
  factors: usize,
  tone: usize,
  scratch: usize,
): void {
  const plane = (<usize>(size * size)) << 2;
  if (isCubic(faceSampling)) {
    for (let channel: usize = 0; channel < 3; channel++) {
      pairRows(face + channel * plane, size, firstRow, endRow, paired + channel * plane);
    }
  }
  for (let row = top; row < top + 2 * pairs; row += 2) {
    const left = load<i32>(spans);
    const columns = load<i32>(spans, 4);
    spans += 8;
    if (columns <= 0) continue;
    const whole = padded(columns);
    const rowBytes = (<usize>whole) << 2;
    const used = (<usize>columns) << 2;
    const alpha = scratch;
    const rgb = alpha + 2 * rowBytes;
    for (let k = 0; k < 2; k++) {
      const weights = alpha + <usize>k * rowBytes;
      sampleRow<f32>(mask, 1, 0, maskSampling, left, row + k, columns, weights, 0, 0, 0);
      memory.fill(weights + used, 0, rowBytes - used);
    }
    if (!keepVisible(alpha, 2 * whole, least)) continue;
    for (let k = 0; k < 2; k++) {
      const weights = alpha + <usize>k * rowBytes;
      const colors = rgb + <usize>k * rowBytes;
      sampleRow<f32>(
        face,
        3,
        plane,
        faceSampling,
        left,
        row + k,
        columns,
        colors,
        2 * rowBytes,
        weights,
        paired,
      );
    }
    blendColors(picture, left, row, whole, rgb, alpha, factors, tone);
  }
}
