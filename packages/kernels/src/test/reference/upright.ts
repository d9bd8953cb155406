import { type CropFace } from '../../crop-face';
import { MASK_SIZE } from '../../mask';
import { type PasteFace } from '../../paste-face';
import { type Box, type PictureFormat, pictureLayout, rgbToYuv, yuvToRgb } from '../../picture';
import { BILINEAR, type Interpolation, LANCZOS } from '../../resampling';
import {
  type AimAxis,
  createResamplingAxis,
  type Plane,
  resampleColumns,
  resampleRow,
  type ResamplingAxis,
  touchedRange,
} from './resampler';

/** The crop in plain TypeScript, the reference for the kernels in tests and benchmarks. */
export function createCropFace(
  format: PictureFormat,
  size: number,
  interpolation: Interpolation = LANCZOS,
): CropFace {
  const { width, height } = format;
  const { chromaWidth, chromaHeight, uOffset, vOffset } = pictureLayout(format);
  const readLuma = createPlaneReader(size, interpolation);
  const readU = createPlaneReader(size, BILINEAR);
  const readV = createPlaneReader(size, BILINEAR);
  const toRgb = yuvToRgb(format.matrix, format.range);
  const area = size * size;
  return (picture, box, target, offset) => {
    const half = { x1: box.x1 / 2, y1: box.y1 / 2, x2: box.x2 / 2, y2: box.y2 / 2 };
    const chroma = { data: picture, width: chromaWidth, height: chromaHeight };
    readLuma({ data: picture, offset: 0, width, height }, box, target, offset);
    readU({ ...chroma, offset: uOffset }, half, target, offset + area);
    readV({ ...chroma, offset: vOffset }, half, target, offset + 2 * area);
    const { black, luma, redV, greenU, greenV, blueU } = toRgb;
    for (let i = offset; i < offset + area; i++) {
      const y = 2 * luma * ((target[i] ?? 0) - black) - 1;
      const u = 2 * ((target[i + area] ?? 0) - 128);
      const v = 2 * ((target[i + 2 * area] ?? 0) - 128);
      const red = y + v * redV;
      const green = y + u * greenU + v * greenV;
      const blue = y + u * blueU;
      target[i] = red < -1 ? -1 : red > 1 ? 1 : red;
      target[i + area] = green < -1 ? -1 : green > 1 ? 1 : green;
      target[i + 2 * area] = blue < -1 ? -1 : blue > 1 ? 1 : blue;
    }
  };
}

/** Resamples the part of a plane under a box to [size, size] at `offset` of the target. */
function createPlaneReader(size: number, interpolation: Interpolation) {
  const aimAcross = createResamplingAxis(interpolation);
  const aimDown = createResamplingAxis(interpolation);
  let row = new Float32Array(0);
  return (plane: Plane, box: Box, target: Float32Array, offset: number): void => {
    const across = aimAcross(size, box.x1, box.x2 - box.x1, plane.width);
    const down = aimDown(size, box.y1, box.y2 - box.y1, plane.height);
    const { from, to } = touchedRange(across);
    if (row.length < to - from) row = new Float32Array(to - from);
    for (let y = 0; y < size; y++) {
      resampleColumns(plane, down, y, from, to, row);
      resampleRow(row, from, across, target, offset + y * size);
    }
  };
}

/** Less than half a gray level at the greatest possible difference. */
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

/** Two rows of a face in 8-bit codes. */
interface FaceRows {
  /** Two rows in sequence. */
  readonly luma: Float32Array;
  /** One value for every two columns. */
  readonly u: Float32Array;
  readonly v: Float32Array;
}

/**
 * Blends two picture rows, from the even column `left` of the even row `top` on. `alpha` holds two rows of `columns`
 * (even) values. A chroma sample is weighted by the mean of its four pixels' alphas. Samples with alpha 0 are not
 * written.
 */
function createBlendRows(format: PictureFormat) {
  const { width } = format;
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);

  return (
    picture: Uint8Array,
    left: number,
    top: number,
    columns: number,
    face: FaceRows,
    alpha: Float32Array,
  ): void => {
    const chroma = (top >> 1) * chromaWidth + (left >> 1);
    for (let x = 0; x < columns; x += 2) {
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const dx = x + (k & 1);
        const dy = k >> 1;
        const a = alpha[dy * columns + dx] ?? 0;
        total += a;
        if (a > 0) blendSample(picture, (top + dy) * width + left + dx, face.luma[dy * columns + dx] ?? 0, a);
      }
      if (total === 0) continue;
      blendSample(picture, uOffset + chroma + x / 2, face.u[x / 2] ?? 0, total / 4);
      blendSample(picture, vOffset + chroma + x / 2, face.v[x / 2] ?? 0, total / 4);
    }
  };
}

/** A face in the codes of a picture's matrix and range, before rounding. */
interface FaceCodes {
  readonly y: Float32Array;
  readonly u: Float32Array;
  readonly v: Float32Array;
}

/**
 * Converts the planes R, G, B in [-1, 1], each of `area` values, at `offset`. The result is valid until the next call.
 */
function createFaceCodes({ matrix, range }: PictureFormat, area: number) {
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);
  const codes = { y: new Float32Array(area), u: new Float32Array(area), v: new Float32Array(area) };

  return (faces: Float32Array, offset: number): FaceCodes => {
    for (let i = 0; i < area; i++) {
      const r = unitLevel(faces[offset + i] ?? 0);
      const g = unitLevel(faces[offset + area + i] ?? 0);
      const b = unitLevel(faces[offset + 2 * area + i] ?? 0);
      codes.y[i] = black + yR * r + yG * g + yB * b;
      codes.u[i] = 128 + uR * r + uG * g + uB * b;
      codes.v[i] = 128 + vR * r + vG * g + vB * b;
    }
    return codes;
  };
}

/** Blends `value` into a sample of a picture, weighted by `share` and rounded. */
export function blendSample(picture: Uint8Array, at: number, value: number, share: number): void {
  const old = picture[at] ?? 0;
  const mixed = old + (value - old) * share + 0.5;
  picture[at] = mixed < 0 ? 0 : mixed > 255 ? 255 : mixed;
}

/** Converts [-1, 1], which networks overshoot, to [0, 1]. */
export function unitLevel(value: number): number {
  const level = (value + 1) / 2;
  return level < 0 ? 0 : level > 1 ? 1 : level;
}
