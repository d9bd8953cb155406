import { type CropFace } from '../../crop-face';
import { INVISIBLE, MASK_SIZE } from '../../mask';
import { type PasteFace } from '../../paste-face';
import { type Box, type PictureFormat, pictureLayout } from '../../picture';
import { BILINEAR, type Interpolation, LANCZOS } from '../../resampling';
import { blendPixels, clamp, openSamples, toRgb, toYuv } from './colors';

/** The crop by its definition: the reference for the kernels. */
export function createCropFace(
  format: PictureFormat,
  size: number,
  interpolation: Interpolation = LANCZOS,
): CropFace {
  const { width, height } = format;
  const { chromaWidth, chromaHeight } = pictureLayout(format);
  const area = size * size;
  const rgbOf = toRgb(format);
  return (picture, box, target, offset) => {
    const half = { x1: box.x1 / 2, y1: box.y1 / 2, x2: box.x2 / 2, y2: box.y2 / 2 };
    const { data, u, v } = openSamples(picture, format);
    const luma = resampled({ data, width, height }, box, interpolation, size, size);
    const chroma = [u, v].map((from) => {
      const plane = { data: data.subarray(from), width: chromaWidth, height: chromaHeight };
      return resampled(plane, half, BILINEAR, size, size);
    });
    luma.forEach((y, i) =>
      rgbOf(y, chroma[0]?.[i] ?? NaN, chroma[1]?.[i] ?? NaN).forEach((value, k) => {
        target[offset + k * area + i] = value;
      }),
    );
  };
}

/** A crop of up to twice the picture's density holds no finer detail than the picture. */
const OF_FACE: Interpolation = { ...LANCZOS, enlargement: 2 };

/** The paste by its definition: the reference for the kernels. */
export function createPasteFace(format: PictureFormat, size: number): PasteFace {
  const { width } = format;
  const { chromaWidth } = pictureLayout(format);
  const area = size * size;
  const codesOf = toYuv(format);
  return (picture, box, faces, offset, mask) => {
    const { left, top, columns, rows } = coveringPairs(box, format);
    if (columns <= 0 || rows <= 0) return;
    const samples = openSamples(picture, format);
    const colors = [0, 1, 2].map((k) => faces.subarray(offset + k * area, offset + (k + 1) * area));
    const colorAt = (planes: readonly ArrayLike<number>[], i: number) =>
      [planes[0]?.[i] ?? NaN, planes[1]?.[i] ?? NaN, planes[2]?.[i] ?? NaN] as const;
    const [w, h] = [box.x2 - box.x1, box.y2 - box.y1];
    /** The pairs' part of a square of `side` cells that is spread over the box. */
    const spread = (
      data: ArrayLike<number>,
      side: number,
      pixels: 1 | 2,
      interpolation: Interpolation = BILINEAR,
    ): Float64Array => {
      const part = {
        x1: ((left - box.x1) / w) * side,
        y1: ((top - box.y1) / h) * side,
        x2: ((left + columns - box.x1) / w) * side,
        y2: ((top + rows - box.y1) / h) * side,
      };
      const square = { data, width: side, height: side };
      return resampled(square, part, interpolation, columns / pixels, rows / pixels);
    };
    const isCovered = (pixel: number, from: number, to: number): boolean =>
      pixel + 0.5 >= from && pixel + 0.5 < to;
    const alpha = spread(mask, MASK_SIZE, 1).map((weight, i) => {
      const isInBox =
        isCovered(left + (i % columns), box.x1, box.x2) &&
        isCovered(top + Math.floor(i / columns), box.y1, box.y2);
      return weight < INVISIBLE || !isInBox ? 0 : weight;
    });
    const place = (i: number) => ({ x: left + (i % columns), y: top + Math.floor(i / columns) });
    if (format.depth === 10) {
      // What a color is to the picture is only known for whole pixels, so all colors are spread like luma.
      const shown = colors.map((plane) =>
        spread(
          plane.map((value) => clamp(value, -1, 1)),
          size,
          1,
          OF_FACE,
        ),
      );
      const pixels = Array.from(alpha, (share, i) => {
        const { x, y } = place(i);
        return { x, y, share, codes: codesOf(colorAt(shown, i), samples.at(x, y)) };
      });
      for (let row = 0; row < rows; row += 2)
        blendPixels(
          samples,
          format,
          [row, row + 1].map((y) => pixels.slice(y * columns, (y + 1) * columns)),
        );
      return;
    }
    const codes = [0, 1, 2].map(() => new Float64Array(area));
    for (let i = 0; i < area; i++) {
      codesOf(colorAt(colors, i), [0, 0, 0]).forEach((code, k) => codes[k]?.fill(code, i, i + 1));
    }
    const [y = [], u = [], v = []] = codes.map((plane, k) =>
      k === 0 ? spread(plane, size, 1, OF_FACE) : spread(plane, size, 2),
    );
    alpha.forEach((share, i) => samples.blend(place(i).y * width + place(i).x, y[i] ?? NaN, share));
    for (let i = 0; i < (columns / 2) * (rows / 2); i++) {
      const [column, row] = [i % (columns / 2), Math.floor(i / (columns / 2))];
      const first = 2 * row * columns + 2 * column;
      const four = [first, first + 1, first + columns, first + columns + 1];
      const share = four.reduce((sum, k) => sum + (alpha[k] ?? NaN), 0) / 4;
      const at = (top / 2 + row) * chromaWidth + left / 2 + column;
      samples.blend(samples.u + at, u[i] ?? NaN, share);
      samples.blend(samples.v + at, v[i] ?? NaN, share);
    }
  };
}

/** The smallest rectangle of whole chroma samples that holds all pixels whose centers are in the box. */
function coveringPairs(box: Box, { width, height }: PictureFormat) {
  const pairs = (from: number, to: number, length: number): readonly [number, number] => {
    const pixels = Array.from({ length }, (_, i) => i).filter((i) => i + 0.5 >= from && i + 0.5 < to);
    const [first = 0, last = -2] = [pixels[0], pixels.at(-1)];
    const start = first - (first % 2);
    const end = Math.min(last - (last % 2) + 2, length - (length % 2));
    return [start, end - start];
  };
  const [left, columns] = pairs(box.x1, box.x2, width);
  const [top, rows] = pairs(box.y1, box.y2, height);
  return { left, top, columns, rows };
}

interface Plane {
  readonly data: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
}

/** Resamples the part of a plane under a box to [rows, columns]. */
function resampled(
  { data, width, height }: Plane,
  { x1, y1, x2, y2 }: Box,
  interpolation: Interpolation,
  columns: number,
  rows: number,
): Float64Array {
  const across = axis(interpolation, columns, x1, x2 - x1, width);
  const down = axis(interpolation, rows, y1, y2 - y1, height);
  const result = new Float64Array(rows * columns);
  down.forEach((weights, row) => {
    const line = new Float64Array(width);
    weights.forEach((weight, y) => {
      if (weight === 0) return;
      for (let x = 0; x < width; x++) line[x] = (line[x] ?? 0) + weight * (data[y * width + x] ?? NaN);
    });
    across.forEach((weights, column) => {
      result[row * columns + column] = weights.reduce((sum, weight, x) => sum + weight * (line[x] ?? 0), 0);
    });
  });
  return result;
}

/**
 * For each of `outputs`, the weights of all `limit` samples of a source whose part [start, start + span) is spread over
 * them. Where the source is more than `enlargement` times as dense as the output the interpolation is stretched, so that
 * every sample counts. Beyond its ends the source repeats its last sample.
 */
function axis(
  { radius, weight, enlargement }: Interpolation,
  outputs: number,
  start: number,
  span: number,
  limit: number,
): Float64Array[] {
  const step = span / outputs;
  const stretch = Math.max(1, step / enlargement);
  const wanted = 2 * Math.ceil(radius * stretch);
  // The kernels' number of taps is even: they leave out one end of an odd source that is shorter than wanted.
  const taps = Math.min(wanted, limit - (limit % 2));
  return Array.from({ length: outputs }, (_, k) => {
    const center = start + (k + 0.5) * step - 0.5;
    const begin = Math.floor(center - radius * stretch) + 1;
    const first = clamp(begin, 0, limit - taps);
    const weights = new Float64Array(limit);
    for (let at = begin; at < begin + wanted; at++) {
      const inside = clamp(at, first, first + taps - 1);
      weights[inside] = (weights[inside] ?? 0) + weight(Math.abs(at - center) / stretch);
    }
    const sum = weights.reduce((total, value) => total + value, 0);
    return weights.map((value) => value / sum);
  });
}
