import { planMemory, startKernels } from './kernels';
import { INVISIBLE } from './mask';
import {
  type Affine,
  copyPictureRows,
  type PictureFormat,
  placePicture,
  reservePicture,
  rgbToYuv,
} from './picture';
import { padded } from './resampling';
import { aimSampling, coveredCells, coveredRows, endColumn, firstColumn, reserveSampling } from './sampling';
import { placeTone, reserveTone } from './sdr-colors';

/**
 * Blends the [3, side, side] face (R, G, B in [-1, 1]) at `offset` of `faces` into a picture, at the position
 * given by `transform` (from the picture to the crop, `alignedFaces`), weighted by the mask of the paste. Pixels
 * outside the mask keep their exact values; in pictures of ten bits also those that look like the face.
 */
export type AlignedPaste = (
  picture: Uint8Array,
  transform: Affine,
  faces: Float32Array,
  offset: number,
) => void;

/**
 * `mask` is [side, side] in [0, 1], see `softMask`. Only the rows and columns under it are processed, in pairs that
 * share a chroma sample. The last line of an odd-sized picture stays unchanged.
 */
export function createAlignedPaste(format: PictureFormat, side: number, mask: Float32Array): AlignedPaste {
  const { width, height } = format;
  const evenWidth = width & ~1;
  const evenHeight = height & ~1;
  const area = side * side;
  const covered = coveredCells(mask, side);

  const plan = planMemory();
  const placed = reservePicture(plan, format);
  const face = plan.reserve(3 * area * 4);
  const paired = plan.reserve(3 * area * 4);
  const weights = plan.reserve(area * 4);
  const square = { width: side, height: side };
  const faceSampling = reserveSampling(plan, { ...square, interpolation: 'sharp' });
  const maskSampling = reserveSampling(plan, {
    ...square,
    around: { value: 0, from: 0 },
    interpolation: 'bilinear',
  });
  const spans = plan.reserve(evenHeight * 4);
  const factors = plan.reserve(10 * 4);
  const reservedTone = reserveTone(plan, format);
  const scratch = plan.reserve(8 * padded(width) * 4);

  const kernels = startKernels(plan.bytes);
  new Float32Array(kernels.memory, factors, 10).set(Object.values(rgbToYuv(format)));
  new Float32Array(kernels.memory, weights, area).set(mask);
  const tone = placeTone(kernels, reservedTone);
  const copy = placePicture(kernels, placed, format);
  const faceCopy = new Float32Array(kernels.memory, face, 3 * area);
  const columnSpans = new Int32Array(kernels.memory, spans, evenHeight);

  /** First column and number of columns for every pair of rows: whole pairs of columns that the mask may touch. */
  const findSpans = (map: Affine, top: number, bottom: number): void => {
    for (let row = top; row < bottom; row += 2) {
      const left = Math.max(0, firstColumn(map, row, covered) & ~1);
      const right = Math.min(endColumn(map, row, covered), evenWidth);
      columnSpans[row - top] = left;
      columnSpans[row - top + 1] = (right - left + 1) & ~1;
    }
  };

  /** Copies only the rows of the face that pixels under the mask use. */
  const copyFace = (faces: Float32Array, offset: number, { d, e }: Affine) => {
    const reach = Math.ceil(Math.abs(d) + Math.abs(e)) + 2;
    const first = Math.max(0, covered.top - reach);
    const end = Math.min(side, covered.bottom + reach + 1);
    for (let plane = 0; plane < 3 * area; plane += area) {
      const from = plane + first * side;
      faceCopy.set(faces.subarray(offset + from, offset + plane + end * side), from);
    }
    return { first, end };
  };

  return (picture, transform, faces, offset) => {
    const { a, b, c, d, e, f } = transform;
    // Maps pixels to samples, between centers.
    const map = { a, b, c: c + (a + b - 1) / 2, d, e, f: f + (d + e - 1) / 2 };
    const reached = coveredRows(map, covered);
    const top = Math.max(0, reached.from & ~1);
    const bottom = Math.min((reached.to + 1) & ~1, evenHeight);
    if (bottom <= top) return;
    findSpans(map, top, bottom);
    aimSampling(kernels, faceSampling, map);
    aimSampling(kernels, maskSampling, map);
    const rows = copyFace(faces, offset, map);

    copyPictureRows(picture, copy, format, { from: top, to: bottom });
    kernels.pasteAligned(
      placed.address,
      top,
      (bottom - top) / 2,
      spans,
      face,
      side,
      rows.first,
      rows.end,
      paired,
      faceSampling.address,
      weights,
      maskSampling.address,
      INVISIBLE,
      factors,
      tone,
      scratch,
    );
    copyPictureRows(copy, picture, format, { from: top, to: bottom });
  };
}
