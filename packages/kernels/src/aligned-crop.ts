import { planMemory, startKernels } from './kernels';
import { type Affine, copyRows, invertAffine, type PictureFormat, pictureLayout, yuvToRgb } from './picture';
import { aimSampling, reserveSampling, sampledRows } from './sampling';
import { reserveTone, startToSdr } from './sdr-colors';
import { graySignal } from './tone';

/**
 * Cuts a rotated face out of a picture and writes it to `target` at `offset` as [3, side, side] planes R, G, B
 * in [-1, 1]. `transform` maps the picture to the crop (`alignedFaces`). Slightly beyond its edge, the picture is
 * surrounded by mid gray.
 */
export type AlignedCrop = (
  picture: Uint8Array,
  transform: Affine,
  target: Float32Array,
  offset: number,
) => void;

/** The gray around pictures in the training of LatentSync's networks, of 255. */
const GRAY = 127 / 255;
/**
 * Pixels of the crop for which the edge is extended before the gray begins: one cell of a latent, so that no gray is
 * mixed in when the border of the picture is pasted back.
 */
const FRINGE = 8;

/**
 * LatentSync (https://github.com/bytedance/LatentSync) first warps the face bilinearly to 210 × 280 pixels and then
 * resizes that with Lanczos. Here both are one resampling. It is sharper where the face is small and, because every
 * pixel of a large face counts, free of the aliasing of the bilinear warp.
 */
export function createAlignedCrop(format: PictureFormat, side: number): AlignedCrop {
  const { width, height } = format;
  const { chromaWidth, chromaHeight, sampleBytes, uOffset, vOffset, bytes } = pictureLayout(format);
  const area = side * side;
  // The kernels process multiples of four. With an odd side the planes end in unused values.
  const plane = Math.ceil(area / 4) * 4;
  const { black, luma: gain } = yuvToRgb(format);

  const plan = planMemory();
  const tone = reserveTone(plan, format);
  const pixels = plan.reserve(bytes);
  const planes = plan.reserve(3 * plane * 4);
  const luma = reserveSampling(plan, {
    width,
    height,
    around: { value: black + graySignal(format.transfer, GRAY) / gain, from: FRINGE },
    interpolation: 'cubic',
  });
  const chroma = reserveSampling(plan, {
    width: chromaWidth,
    height: chromaHeight,
    around: { value: 128, from: FRINGE },
    interpolation: 'bilinear',
  });
  const kernels = startKernels(plan.bytes);
  const toSdr = startToSdr(kernels, format, tone);
  const copy = new Uint8Array(kernels.memory, pixels, bytes);
  const colors = [0, 1, 2].map((k) => new Float32Array(kernels.memory, planes + k * plane * 4, area));

  return (picture, transform, target, offset) => {
    const { a, b, c, d, e, f } = invertAffine(transform);
    // Between pixel centers, the first of which is at 0.5. A chroma sample covers two pixels in each direction.
    const x = c + (a + b) / 2;
    const y = f + (d + e) / 2;
    const lumaMap = { a, b, c: x - 0.5, d, e, f: y - 0.5 };
    const chromaMap = { a: a / 2, b: b / 2, c: x / 2 - 0.5, d: d / 2, e: e / 2, f: y / 2 - 0.5 };

    aimSampling(kernels, luma, lumaMap);
    copyRows(picture, copy, 0, sampleBytes * width, sampledRows(lumaMap, side, height));
    kernels.sampleSquare(sampleBytes, pixels, 1, 0, luma.address, side, planes, 0);

    aimSampling(kernels, chroma, chromaMap);
    const chromaRows = sampledRows(chromaMap, side, chromaHeight);
    for (const plane of [uOffset, vOffset])
      copyRows(picture, copy, plane, sampleBytes * chromaWidth, chromaRows);
    const apart = vOffset - uOffset;
    const out = planes + plane * 4;
    kernels.sampleSquare(sampleBytes, pixels + uOffset, 2, apart, chroma.address, side, out, plane * 4);

    toSdr(planes, plane);
    colors.forEach((color, k) => target.set(color, offset + k * area));
  };
}
