import { MASK_SIZE } from '../../blend-mask';
import { type Box } from '../../box';
import { BILINEAR } from '../../interpolation';
import { type PasteFace } from '../../paste-face';
import { type PictureFormat } from '../../picture-format';
import { createBlendRows, type FaceRows } from './blend-rows';
import { createFaceCodes } from './face-codes';
import { type Plane, resampleColumns, resampleRow, touchedRange } from './plane-resampler';
import { type AimAxis, createResamplingAxis, type ResamplingAxis } from './resampling-axis';

/** Less than half a grey level at the greatest possible difference. */
const INVISIBLE = 1 / 512;

/** The paste in plain TypeScript, the reference for the kernels in tests and benchmarks. */
export function createPasteFace(format: PictureFormat, size: number): PasteFace {
  const aim = (): { across: AimAxis; down: AimAxis } => ({
    across: createResamplingAxis(BILINEAR),
    down: createResamplingAxis(BILINEAR),
  });
  const [luma, chroma, masks] = [aim(), aim(), aim()];
  const toCodes = createFaceCodes(format, size * size);
  const blendRows = createBlendRows(format);
  const alpha = new Float32Array(2 * format.width);
  const codes: FaceRows = {
    luma: new Float32Array(2 * format.width),
    u: new Float32Array(format.width),
    v: new Float32Array(format.width),
  };
  const line = new Float32Array(Math.max(size, MASK_SIZE));

  const interpolate = (
    plane: Plane,
    { across, down }: { across: ResamplingAxis; down: ResamplingAxis },
    row: number,
    target: Float32Array,
    offset = 0,
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
    // The covered pairs as fractions of the box.
    const x = (left - box.x1) * perColumn;
    const y = (top - box.y1) * perRow;
    const w = columns * perColumn;
    const h = rows * perRow;
    const spread = ({ across, down }: ReturnType<typeof aim>, side: number, pixels: 1 | 2) => ({
      across: across(columns / pixels, x * side, w * side, side),
      down: down(rows / pixels, y * side, h * side, side),
    });
    const lumaAxes = spread(luma, size, 1);
    const chromaAxes = spread(chroma, size, 2);
    const maskAxes = spread(masks, MASK_SIZE, 1);
    const face = toCodes(faces, offset);
    const plane = (data: Float32Array, side: number): Plane => ({
      data,
      offset: 0,
      width: side,
      height: side,
    });
    for (let row = 0; row < rows; row += 2) {
      let visible = false;
      for (let k = 0; k < 2; k++) {
        interpolate(plane(mask, MASK_SIZE), maskAxes, row + k, alpha, k * columns);
        if (keepVisible(alpha, k * columns, columns)) visible = true;
      }
      if (!visible) continue;
      for (let k = 0; k < 2; k++)
        interpolate(plane(face.y, size), lumaAxes, row + k, codes.luma, k * columns);
      interpolate(plane(face.u, size), chromaAxes, row / 2, codes.u);
      interpolate(plane(face.v, size), chromaAxes, row / 2, codes.v);
      blendRows(picture, left, top + row, columns, codes, alpha);
    }
  };
}

/** Whole chroma samples that are inside both the box and the picture. */
function coveredPairs(box: Box, { width, height }: PictureFormat) {
  const left = Math.max(0, Math.ceil(box.x1 / 2) * 2);
  const top = Math.max(0, Math.ceil(box.y1 / 2) * 2);
  const right = Math.min(Math.floor(width / 2), Math.floor(box.x2 / 2)) * 2;
  const bottom = Math.min(Math.floor(height / 2), Math.floor(box.y2 / 2)) * 2;
  return { left, top, columns: right - left, rows: bottom - top };
}

/** Sets invisible weights to exactly 0. Returns whether any are left. */
function keepVisible(alpha: Float32Array, offset: number, count: number): boolean {
  let visible = false;
  for (let x = offset; x < offset + count; x++) {
    if ((alpha[x] ?? 0) < INVISIBLE) alpha[x] = 0;
    else visible = true;
  }
  return visible;
}
