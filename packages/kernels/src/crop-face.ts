import { planMemory, startKernels } from './kernels';
import { type Box, copyRows, type PictureFormat, pictureLayout } from './picture';
import {
  aimGrid,
  BILINEAR,
  fillTable,
  type Interpolation,
  LANCZOS,
  padded,
  reserveGrid,
  reserveTable,
  touchedRows,
} from './resampling';
import { reserveTone, startToSdr } from './sdr-colors';

/**
 * Cuts `box` out of a picture and writes it to `target` at `offset` as [3, size, size] planes R, G, B in [-1,
 * 1] or normalized, stretched to the square whatever the shape of the box. Parts of the box outside the picture repeat its
 * edge.
 */
export type CropFace = (picture: Uint8Array, box: Box, target: Float32Array, offset: number) => void;

/** What a network was trained on in place of x in [-1, 1]: gain · x + term, for R, G and B. */
type Normalization = readonly { readonly gain: number; readonly term: number }[];

/**
 * Resamples luma by `interpolation` (most engines were trained on Lanczos), and chroma bilinearly, since it has half
 * the resolution anyway.
 *
 * @param normalization one for each plane; none leaves them in [-1, 1]
 * @throws RangeError if `size` is not a multiple of eight
 */
export function createCropFace(
  format: PictureFormat,
  size: number,
  interpolation: Interpolation = LANCZOS,
  normalization: Normalization = [],
): CropFace {
  if (padded(size) !== size) throw new RangeError(`the side of a crop is a multiple of eight, not ${size}`);
  const { width, height } = format;
  const { chromaWidth, chromaHeight, sampleBytes, uOffset, vOffset, bytes } = pictureLayout(format);
  const area = size * size;

  const plan = planMemory();
  const pixels = plan.reserve(bytes);
  const planes = plan.reserve(3 * area * 4);
  const lumaTable = reserveTable(plan, interpolation);
  const chromaTable = reserveTable(plan, BILINEAR);
  const luma = reserveGrid(plan, { width, height }, size, size);
  const chroma = reserveGrid(plan, { width: chromaWidth, height: chromaHeight }, size, size);
  const line = plan.reserve((width + 16) * 2);
  const tone = reserveTone(plan, format);

  const kernels = startKernels(plan.bytes);
  fillTable(kernels, lumaTable);
  fillTable(kernels, chromaTable);
  const words = new Int32Array(kernels.memory);
  const copy = new Uint8Array(kernels.memory, pixels, bytes);
  const result = new Float32Array(kernels.memory, planes, 3 * area);
  const toSdr = startToSdr(kernels, format, tone);

  return (picture, box, target, offset) => {
    const half = { x1: box.x1 / 2, y1: box.y1 / 2, x2: box.x2 / 2, y2: box.y2 / 2 };
    aimGrid(kernels, luma, lumaTable, box, size, size);
    aimGrid(kernels, chroma, chromaTable, half, size, size);
    copyRows(picture, copy, 0, sampleBytes * width, touchedRows(words, luma));
    kernels.resamplePlane(sampleBytes, pixels, width, luma.across, luma.down, line, planes);
    const chromaRows = touchedRows(words, chroma);
    [uOffset, vOffset].forEach((plane, i) => {
      copyRows(picture, copy, plane, sampleBytes * chromaWidth, chromaRows);
      const out = planes + (i + 1) * area * 4;
      kernels.resamplePlane(sampleBytes, pixels + plane, chromaWidth, chroma.across, chroma.down, line, out);
    });
    toSdr(planes, area);
    normalization.forEach(({ gain, term }, k) => kernels.scale(planes + k * area * 4, area, gain, term));
    target.set(result, offset);
  };
}
