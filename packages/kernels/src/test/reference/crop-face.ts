import { type Box } from '../../box';
import { yuvToRgb } from '../../colour-conversion';
import { type CropFace } from '../../crop-face';
import { BILINEAR, type Interpolation, LANCZOS } from '../../interpolation';
import { type PictureFormat, pictureLayout } from '../../picture-format';
import { type Plane, resampleColumns, resampleRow, touchedRange } from './plane-resampler';
import { createResamplingAxis } from './resampling-axis';

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
