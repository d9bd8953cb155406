import { type AlignedCrop } from '../../aligned-crop';
import { type AlignedPaste } from '../../aligned-paste';
import { INVISIBLE } from '../../mask';
import { invertAffine, type PictureFormat, pictureLayout, rgbToYuv, yuvToRgb } from '../../picture';
import { coveredCells, coveredRows, endColumn, firstColumn } from '../../sampling';
import { createPlaneSampler } from './aligned-sampler';
import { blendSample, unitLevel } from './upright';

/** The gray around pictures in the training of LatentSync's networks, of 255. */
const GRAY = 127 / 255;
/** Pixels of the crop for which the edge is extended before the gray begins. */
const FRINGE = 8;

/** The crop in plain TypeScript, the reference for the kernels in tests and benchmarks. */
export function createAlignedCrop(format: PictureFormat, side: number): AlignedCrop {
  const { width, height } = format;
  const { chromaWidth, chromaHeight, uOffset, vOffset } = pictureLayout(format);
  const area = side * side;
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(format.matrix, format.range);
  const readLuma = createPlaneSampler({
    width,
    height,
    offsets: [0],
    around: { values: [black + GRAY / luma], from: FRINGE },
    stride: area,
    interpolation: 'cubic',
  });
  const readChroma = createPlaneSampler({
    width: chromaWidth,
    height: chromaHeight,
    offsets: [uOffset, vOffset],
    around: { values: [128, 128], from: FRINGE },
    stride: area,
    interpolation: 'bilinear',
  });

  return (picture, transform, target, offset) => {
    const { a, b, c, d, e, f } = invertAffine(transform);
    // Between pixel centers, the first of which is at 0.5. A chroma sample covers two pixels in each direction.
    const x = c + (a + b) / 2;
    const y = f + (d + e) / 2;
    readLuma.aim({ a, b, c: x - 0.5, d, e, f: y - 0.5 });
    readChroma.aim({ a: a / 2, b: b / 2, c: x / 2 - 0.5, d: d / 2, e: e / 2, f: y / 2 - 0.5 });
    for (let row = 0; row < side; row++) {
      const at = offset + row * side;
      readLuma.sampleRow(picture, 0, row, side, target, at);
      readChroma.sampleRow(picture, 0, row, side, target, at + area);
      for (let i = at; i < at + side; i++) {
        const light = 2 * luma * ((target[i] ?? 0) - black) - 1;
        const u = 2 * ((target[i + area] ?? 0) - 128);
        const v = 2 * ((target[i + 2 * area] ?? 0) - 128);
        const red = light + v * redV;
        const green = light + u * greenU + v * greenV;
        const blue = light + u * blueU;
        target[i] = red < -1 ? -1 : red > 1 ? 1 : red;
        target[i + area] = green < -1 ? -1 : green > 1 ? 1 : green;
        target[i + 2 * area] = blue < -1 ? -1 : blue > 1 ? 1 : blue;
      }
    }
  };
}

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
    // Maps pixels to samples, between centers.
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

/** Two neighboring rows of a face to blend into a picture, `stride` values apart, from their first column on. */
interface FaceRows {
  readonly stride: number;
  /** How much of the face to show, in [0, 1]. */
  readonly alpha: Float32Array;
  /** In [-1, 1]: two rows of red, two of green, two of blue. */
  readonly rgb: Float32Array;
}

/**
 * Blends `columns` (even) values of two rows into a yuv420p picture, from the even column `left` of the even row `top`
 * on. A chroma sample takes the mean of its four pixels, each weighted by its alpha, and is blended by the mean of the
 * alphas. Samples with only zero alphas are not written.
 */
type BlendRows = (picture: Uint8Array, left: number, top: number, columns: number) => void;

function createAlignedBlend(format: PictureFormat, { stride, alpha, rgb }: FaceRows): BlendRows {
  const { width, matrix, range } = format;
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);

  return (picture, left, top, columns) => {
    let chroma = (top >> 1) * chromaWidth + (left >> 1);
    for (let x = 0; x < columns; x += 2, chroma++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const at = (k >> 1) * stride + x + (k & 1);
        const share = alpha[at] ?? 0;
        if (share === 0) continue;
        const r = unitLevel(rgb[at] ?? 0);
        const g = unitLevel(rgb[at + 2 * stride] ?? 0);
        const b = unitLevel(rgb[at + 4 * stride] ?? 0);
        red += share * r;
        green += share * g;
        blue += share * b;
        total += share;
        blendSample(
          picture,
          (top + (k >> 1)) * width + left + x + (k & 1),
          black + yR * r + yG * g + yB * b,
          share,
        );
      }
      if (total === 0) continue;
      blendSample(picture, uOffset + chroma, 128 + (uR * red + uG * green + uB * blue) / total, total / 4);
      blendSample(picture, vOffset + chroma, 128 + (vR * red + vG * green + vB * blue) / total, total / 4);
    }
  };
}
