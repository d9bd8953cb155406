import { type AlignedCrop } from '../../aligned-crop';
import { type AlignedPaste } from '../../aligned-paste';
import { INVISIBLE } from '../../mask';
import { type Affine, invertAffine, type PictureFormat, pictureLayout, yuvToRgb } from '../../picture';
import { coveredCells, coveredRows, endColumn, firstColumn, type SampledPlanes } from '../../sampling';
import { blendPixels, clamp, openSamples, toRgb, toYuv } from './colors';
import { signalOf } from './levels';

/** The gray around pictures in the training of LatentSync's networks, of 255. */
const GRAY = 127 / 255;
/** Pixels of the crop for which the edge is extended before the gray begins. */
const FRINGE = 8;

/** The crop by its definition: the reference for the kernels. */
export function createAlignedCrop(format: PictureFormat, side: number): AlignedCrop {
  const { width, height } = format;
  const { chromaWidth, chromaHeight } = pictureLayout(format);
  const area = side * side;
  const rgbOf = toRgb(format);
  const { black, luma: gain } = yuvToRgb(format);
  const luma = {
    width,
    height,
    around: { value: black + signalOf(format, GRAY) / gain, from: FRINGE },
    interpolation: 'cubic',
  } as const;
  const chroma = {
    width: chromaWidth,
    height: chromaHeight,
    around: { value: 128, from: FRINGE },
    interpolation: 'bilinear',
  } as const;

  return (picture, transform, target, offset) => {
    const { a, b, c, d, e, f } = invertAffine(transform);
    // Between pixel centers, the first of which is at 0.5. A chroma sample covers two pixels in each direction.
    const x = c + (a + b) / 2;
    const y = f + (d + e) / 2;
    const chromaMap = { a: a / 2, b: b / 2, c: x / 2 - 0.5, d: d / 2, e: e / 2, f: y / 2 - 0.5 };
    const { data, u: uStart, v: vStart } = openSamples(picture, format);
    const rowOfY = rowSampler(data, luma, { a, b, c: x - 0.5, d, e, f: y - 0.5 });
    const rowOfU = rowSampler(data.subarray(uStart), chroma, chromaMap);
    const rowOfV = rowSampler(data.subarray(vStart), chroma, chromaMap);
    for (let row = 0; row < side; row++) {
      const [u, v] = [rowOfU(0, row, side), rowOfV(0, row, side)];
      rowOfY(0, row, side).forEach((value, i) =>
        rgbOf(value, u[i] ?? NaN, v[i] ?? NaN).forEach((color, k) => {
          target[offset + k * area + row * side + i] = color;
        }),
      );
    }
  };
}

/** The paste by its definition: the reference for the kernels. */
export function createAlignedPaste(format: PictureFormat, side: number, mask: Float32Array): AlignedPaste {
  const [evenWidth, evenHeight] = [format.width & ~1, format.height & ~1];
  const area = side * side;
  const covered = coveredCells(mask, side);
  const codesOf = toYuv(format);
  const square = { width: side, height: side };

  return (picture, transform, faces, offset) => {
    const { a, b, c, d, e, f } = transform;
    // Maps pixels to samples, between centers.
    const map = { a, b, c: c + (a + b - 1) / 2, d, e, f: f + (d + e - 1) / 2 };
    const weights = { ...square, around: { value: 0, from: 0 }, interpolation: 'bilinear' } as const;
    const rowOfMask = rowSampler(mask, weights, map);
    const rowsOfFace = [0, 1, 2].map((k) => {
      const plane = faces.subarray(offset + k * area, offset + (k + 1) * area);
      return rowSampler(plane, { ...square, interpolation: 'sharp' }, map);
    });
    const samples = openSamples(picture, format);
    const { from, to } = coveredRows(map, covered);
    for (let row = Math.max(0, from & ~1); row < Math.min(to, evenHeight); row += 2) {
      const left = Math.max(0, firstColumn(map, row, covered) & ~1);
      const columns = (Math.min(endColumn(map, row, covered), evenWidth) - left + 1) & ~1;
      if (columns <= 0) continue;
      const shares = [row, row + 1].map((y) =>
        rowOfMask(left, y, columns).map((weight) => (weight < INVISIBLE ? 0 : weight)),
      );
      if (shares.flat().every((share) => share === 0)) continue;
      const pixels = shares.map((line, k) => {
        const colors = rowsOfFace.map((rowOf) => rowOf(left, row + k, columns));
        return line.map((share, i) => {
          const [x, y] = [left + i, row + k];
          const color = [colors[0]?.[i] ?? NaN, colors[1]?.[i] ?? NaN, colors[2]?.[i] ?? NaN] as const;
          return { x, y, share, codes: codesOf(color, samples.at(x, y)) };
        });
      });
      blendPixels(samples, format, pixels);
    }
  };
}

/** More samples per axis and output cost time without a visible effect. */
const MOST_SAMPLES = 8;
/** A cubic footprint keeps this distance from the edge of a plane. */
const MARGIN = 1e-3;

/**
 * Resamples a plane, see `aimSampling`: returns a function of the first column, the row and the number of outputs. The
 * position of an output is counted from the first one, as in the kernels, so that rounding leaves it on the same side
 * of an edge.
 */
function rowSampler(data: ArrayLike<number>, plane: SampledPlanes, { a, b, c, d, e, f }: Affine) {
  const { width, height, around, interpolation } = plane;
  const step = Math.max(Math.hypot(a, d), Math.hypot(b, e));
  const samples = clamp(Math.round(interpolation === 'sharp' ? step / 2 : step), 1, MOST_SAMPLES);
  const fringe = 0.5 + (around?.from ?? 0) * step;
  const at = (column: number, row: number): number =>
    data[clamp(row, 0, height - 1) * width + clamp(column, 0, width - 1)] ?? NaN;
  const bilinear = (x: number, y: number): number => {
    const [left, top] = [floor(x), floor(y)];
    const upper = at(left, top) * (1 + left - x) + at(left + 1, top) * (x - left);
    const lower = at(left, top + 1) * (1 + left - x) + at(left + 1, top + 1) * (x - left);
    return upper * (1 + top - y) + lower * (y - top);
  };
  const cubic = (x: number, y: number): number => {
    const [left, top] = [floor(x), floor(y)];
    const across = catmullRom(x - left);
    const line = (row: number): number =>
      across.reduce((sum, weight, i) => sum + weight * at(left - 1 + i, row), 0);
    return catmullRom(y - top).reduce((sum, weight, j) => sum + weight * line(top - 1 + j), 0);
  };
  const isWithin = (place: number, length: number): boolean =>
    place >= 1 + MARGIN && place <= length - 2 - MARGIN;
  const sample = (x: number, y: number): number => {
    if (samples === 1 && interpolation !== 'bilinear' && isWithin(x, width) && isWithin(y, height))
      return cubic(x, y);
    const outside = x < -fringe || y < -fringe || x > width - 1 + fringe || y > height - 1 + fringe;
    return outside && around ? around.value : bilinear(x, y);
  };
  const lobes = samples > 1 && interpolation === 'sharp';
  const offsets = spreadOver(samples, lobes);
  return (column: number, row: number, count: number): number[] =>
    Array.from({ length: count }, (_, k) => {
      let sum = 0;
      for (const [down, ofRow] of offsets) {
        const v = row + down;
        for (const [across, ofColumn] of offsets) {
          const u = column + across;
          sum += ofRow * ofColumn * sample(a * u + b * v + c + k * a, d * u + e * v + f + k * d);
        }
      }
      return sum;
    });
}

/** Positions along an axis, relative to an output and in its size, and their weights. */
function spreadOver(samples: number, lobes: boolean): (readonly [number, number])[] {
  const count = lobes ? 2 * samples : samples;
  return Array.from({ length: count }, (_, i) => {
    const position = (i + 0.5 - count / 2) / samples;
    const distance = Math.abs(2 * i + 1 - count);
    const weight = !lobes ? 1 : distance === samples ? 0.5 : distance < samples ? 1.2 : -0.2;
    return [position, weight / samples] as const;
  });
}

/** Looked up once, because access to a global is slow in a test. */
const { floor } = Math;

/** Weights of the samples at −1, 0, 1 and 2 for a position at `x`. */
const catmullRom = (x: number): readonly number[] => [
  ((2 - x) * x - 1) * x * 0.5,
  (3 * x - 5) * x * x * 0.5 + 1,
  ((4 - 3 * x) * x + 1) * x * 0.5,
  (x - 1) * x * x * 0.5,
];
