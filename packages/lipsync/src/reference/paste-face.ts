import { MASK_SIZE } from '../blend-mask';
import { createBlendRows } from './blend-rows';
import { type Box } from '../box';
import { BILINEAR } from '../interpolation';
import { type PasteFace } from '../paste-face';
import { type PictureFormat } from '../picture-format';
import { type Plane, resampleColumns, resampleRow, touchedRange } from './plane-resampler';
import { createResamplingAxis, type ResamplingAxis } from './resampling-axis';

/** Less than half a grey level of the largest possible difference. */
const INVISIBLE = 1 / 512;

/** The paste in plain TypeScript: what the kernels are tested against and compared with. */
export function createPasteFace(format: PictureFormat, size: number): PasteFace {
  const aimAcross = createResamplingAxis(BILINEAR);
  const aimDown = createResamplingAxis(BILINEAR);
  const aimMaskAcross = createResamplingAxis(BILINEAR);
  const aimMaskDown = createResamplingAxis(BILINEAR);
  const blendRows = createBlendRows(format);
  const alpha = new Float32Array(2 * format.width);
  const rgb = new Float32Array(6 * format.width);
  const line = new Float32Array(Math.max(size, MASK_SIZE));

  const interpolate = (
    plane: Plane,
    down: ResamplingAxis,
    across: ResamplingAxis,
    row: number,
    target: Float32Array,
    offset: number,
  ): void => {
    const { from, to } = touchedRange(across);
    resampleColumns(plane, down, row, from, to, line);
    resampleRow(line, from, across, target, offset);
  };

  return (picture, box, faces, offset, mask) => {
    const { left, top, columns, rows } = coveredPairs(box, format);
    if (columns <= 0 || rows <= 0) return;
    const perColumn = 1 / (box.x2 - box.x1);
    const perRow = 1 / (box.y2 - box.y1);
    // The covered pairs as parts of the box.
    const x = (left - box.x1) * perColumn;
    const y = (top - box.y1) * perRow;
    const w = columns * perColumn;
    const h = rows * perRow;
    const across = aimAcross(columns, x * size, w * size, size);
    const down = aimDown(rows, y * size, h * size, size);
    const maskAcross = aimMaskAcross(columns, x * MASK_SIZE, w * MASK_SIZE, MASK_SIZE);
    const maskDown = aimMaskDown(rows, y * MASK_SIZE, h * MASK_SIZE, MASK_SIZE);
    const maskPlane = { data: mask, offset: 0, width: MASK_SIZE, height: MASK_SIZE };
    for (let row = 0; row < rows; row += 2) {
      let visible = false;
      for (let k = 0; k < 2; k++) {
        interpolate(maskPlane, maskDown, maskAcross, row + k, alpha, k * columns);
        if (keepVisible(alpha, k * columns, columns)) visible = true;
      }
      if (!visible) continue;
      for (let k = 0; k < 2; k++) {
        for (let channel = 0; channel < 3; channel++) {
          const plane = { data: faces, offset: offset + channel * size * size, width: size, height: size };
          interpolate(plane, down, across, row + k, rgb, (channel * 2 + k) * columns);
        }
      }
      blendRows(picture, left, top + row, columns, rgb, alpha);
    }
  };
}

/** Whole chroma samples that lie inside both the box and the picture. */
function coveredPairs(box: Box, { width, height }: PictureFormat) {
  const left = Math.max(0, Math.ceil(box.x1 / 2) * 2);
  const top = Math.max(0, Math.ceil(box.y1 / 2) * 2);
  const right = Math.min(Math.floor(width / 2), Math.floor(box.x2 / 2)) * 2;
  const bottom = Math.min(Math.floor(height / 2), Math.floor(box.y2 / 2)) * 2;
  return { left, top, columns: right - left, rows: bottom - top };
}

/** Sets what nobody could see to exactly 0; true when something is left. */
function keepVisible(alpha: Float32Array, offset: number, count: number): boolean {
  let visible = false;
  for (let x = offset; x < offset + count; x++) {
    if ((alpha[x] ?? 0) < INVISIBLE) alpha[x] = 0;
    else visible = true;
  }
  return visible;
}
