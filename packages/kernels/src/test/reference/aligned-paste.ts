import { coveredCells, coveredRows, endColumn, firstColumn } from '../../aligned-cover';
import { type AlignedPaste } from '../../aligned-paste';
import { INVISIBLE } from '../../invisible-weight';
import { type PictureFormat } from '../../picture-format';
import { createAlignedBlend } from './aligned-blend';
import { createPlaneSampler } from './aligned-sampler';

/** The paste in plain TypeScript, the reference for the kernels in tests and benchmarks. */
export function createAlignedPaste(format: PictureFormat, side: number, mask: Float32Array): AlignedPaste {
  const evenWidth = format.width & ~1;
  const evenHeight = format.height & ~1;
  const area = side * side;
  const covered = coveredCells(mask, side);
  const stride = format.width;
  const alpha = new Float32Array(2 * stride);
  const rgb = new Float32Array(6 * stride);
  const blendRows = createAlignedBlend(format, { stride, alpha, rgb });
  const square = { width: side, height: side };
  const readMask = createPlaneSampler({
    ...square,
    offsets: [0],
    around: { values: [0], from: 0 },
    stride: 0,
    interpolation: 'bilinear',
  });
  const readFace = createPlaneSampler({
    ...square,
    offsets: [0, area, 2 * area],
    stride: 2 * stride,
    interpolation: 'cubic',
  });

  /** Sets invisible weights to exactly 0, and records where the rest begins and ends, widened to pairs. */
  const visible = { from: 0, to: 0 };
  const findVisible = (columns: number): void => {
    visible.from = columns;
    visible.to = 0;
    for (let x = 0; x < columns; x++) {
      const upper = (alpha[x] ?? 0) >= INVISIBLE;
      const lower = (alpha[stride + x] ?? 0) >= INVISIBLE;
      if (!upper) alpha[x] = 0;
      if (!lower) alpha[stride + x] = 0;
      if (!upper && !lower) continue;
      visible.from = Math.min(visible.from, x & ~1);
      visible.to = (x & ~1) + 2;
    }
  };

  return (picture, transform, faces, offset) => {
    const { a, b, c, d, e, f } = transform;
    // Maps pixels to samples, between centres.
    const map = { a, b, c: c + (a + b - 1) / 2, d, e, f: f + (d + e - 1) / 2 };
    readMask.aim(map);
    readFace.aim(map);
    const face = faces.subarray(offset, offset + 3 * area);
    const { top, bottom } = coveredRows(map, covered);
    for (let row = Math.max(0, top & ~1); row < Math.min(bottom, evenHeight); row += 2) {
      const left = Math.max(0, firstColumn(map, row, covered) & ~1);
      const right = Math.min(endColumn(map, row, covered), evenWidth);
      const columns = (right - left + 1) & ~1;
      if (columns <= 0) continue;
      readMask.sampleRow(mask, left, row, columns, alpha, 0);
      readMask.sampleRow(mask, left, row + 1, columns, alpha, stride);
      findVisible(columns);
      const { from, to } = visible;
      if (to <= from) continue;
      readFace.sampleRow(face, left + from, row, to - from, rgb, from);
      readFace.sampleRow(face, left + from, row + 1, to - from, rgb, stride + from);
      blendRows(picture, left, row, columns);
    }
  };
}
