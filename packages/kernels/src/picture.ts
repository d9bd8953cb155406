import { type MemoryPlan, type PixelKernels } from './kernels';

/** By luma weights; `bt2020` also stands for its wider primaries, which the others do not have. */
type ColorMatrix = 'bt601' | 'bt709' | 'bt2020';
type ColorRange = 'limited' | 'full';

/** A planar 4:2:0 picture: luma, then the two chroma planes of ceil(width/2) × ceil(height/2). */
export interface PictureFormat {
  readonly width: number;
  readonly height: number;
  readonly matrix: ColorMatrix;
  readonly range: ColorRange;
  /** Bits per sample: 8 are bytes (yuv420p), 10 are 16-bit little-endian words (yuv420p10le). */
  readonly depth: 8 | 10;
  /** How light is coded: as in SDR video or, only at 10 bits, by PQ or HLG (ITU-R BT.2100). */
  readonly transfer: 'sdr' | 'pq' | 'hlg';
}

/** Offsets and sizes of the three planes inside one picture, in bytes; the chroma planes' sides in samples. */
interface PictureLayout {
  readonly chromaWidth: number;
  readonly chromaHeight: number;
  /** Bytes of one sample. */
  readonly sampleBytes: 1 | 2;
  readonly uOffset: number;
  readonly vOffset: number;
  readonly bytes: number;
}

export function pictureLayout({
  width,
  height,
  depth,
}: Pick<PictureFormat, 'width' | 'height' | 'depth'>): PictureLayout {
  const chromaWidth = (width + 1) >> 1;
  const chromaHeight = (height + 1) >> 1;
  const sampleBytes = depth === 8 ? 1 : 2;
  const uOffset = sampleBytes * width * height;
  const chromaBytes = sampleBytes * chromaWidth * chromaHeight;
  const vOffset = uOffset + chromaBytes;
  return { chromaWidth, chromaHeight, sampleBytes, uOffset, vOffset, bytes: vOffset + chromaBytes };
}

/** Rows of a plane: [from, to). */
export interface Rows {
  readonly from: number;
  readonly to: number;
}

/**
 * Copies rows of `stride` bytes of the plane at `plane` to the same place in another array; whole rows are the fastest
 * to copy.
 */
export function copyRows(
  source: Uint8Array,
  target: Uint8Array,
  plane: number,
  stride: number,
  { from, to }: Rows,
): void {
  target.set(source.subarray(plane + from * stride, plane + to * stride), plane + from * stride);
}

/** Copies rows of all planes, from an even one to an even one, to the same place in another picture. */
export function copyPictureRows(
  source: Uint8Array,
  target: Uint8Array,
  format: PictureFormat,
  { from, to }: Rows,
): void {
  const { chromaWidth, sampleBytes, uOffset, vOffset } = pictureLayout(format);
  copyRows(source, target, 0, sampleBytes * format.width, { from, to });
  for (const plane of [uOffset, vOffset])
    copyRows(source, target, plane, sampleBytes * chromaWidth, { from: from / 2, to: to / 2 });
}

/** A picture in the kernels' memory. */
interface PlacedPicture {
  /** Where its place is written, as `assembly/picture.ts` describes. */
  readonly address: number;
  readonly pixels: number;
}

export function reservePicture(plan: MemoryPlan, format: PictureFormat): PlacedPicture {
  return { pixels: plan.reserve(pictureLayout(format).bytes), address: plan.reserve(5 * 4) };
}

/** Writes its place, and returns its bytes. */
export function placePicture(
  { memory }: PixelKernels,
  { address, pixels }: PlacedPicture,
  format: PictureFormat,
): Uint8Array {
  const { uOffset, vOffset, chromaWidth, sampleBytes, bytes } = pictureLayout(format);
  const planes = [pixels, pixels + uOffset, pixels + vOffset];
  new Int32Array(memory, address, 5).set([...planes, sampleBytes * format.width, sampleBytes * chromaWidth]);
  return new Uint8Array(memory, pixels, bytes);
}

/** Luma weights of red and blue; green has the rest. */
const LUMA_WEIGHTS: Readonly<Record<ColorMatrix, { red: number; blue: number }>> = {
  bt601: { red: 0.299, blue: 0.114 },
  bt709: { red: 0.2126, blue: 0.0722 },
  bt2020: { red: 0.2627, blue: 0.0593 },
};

/** Black, and the distance of full luma and of the chroma extremes, in 8-bit codes: a 10-bit one is a quarter. */
function codesOf({ range, depth }: ColorCoding): { black: number; luma: number; chroma: number } {
  if (range === 'limited') return { black: 16, luma: 219, chroma: 224 };
  const all = depth === 8 ? 255 : 1023 / 4;
  return { black: 0, luma: all, chroma: all };
}

type ColorCoding = Pick<PictureFormat, 'matrix' | 'range' | 'depth'>;

/** Converts Y, U, V in 8-bit codes to R, G, B in [0, 1] (before clipping): y = Y − black, u = U − 128, v = V − 128. */
export interface ToRgb {
  readonly black: number;
  readonly luma: number;
  readonly redV: number;
  readonly greenU: number;
  readonly greenV: number;
  readonly blueU: number;
}

export function yuvToRgb(coding: ColorCoding): ToRgb {
  const { red, blue } = LUMA_WEIGHTS[coding.matrix];
  const { black, luma, chroma } = codesOf(coding);
  const green = 1 - red - blue;
  const redV = (2 * (1 - red)) / chroma;
  const blueU = (2 * (1 - blue)) / chroma;
  return {
    black,
    luma: 1 / luma,
    redV,
    blueU,
    greenU: (-blueU * blue) / green,
    greenV: (-redV * red) / green,
  };
}

/**
 * Converts R, G, B in [0, 1] to 8-bit codes before rounding: Y = black + y·rgb, U = 128 + u·rgb, V = 128 + v·rgb. The
 * kernels read the values in this order.
 */
interface FromRgb {
  readonly black: number;
  readonly yR: number;
  readonly yG: number;
  readonly yB: number;
  readonly uR: number;
  readonly uG: number;
  readonly uB: number;
  readonly vR: number;
  readonly vG: number;
  readonly vB: number;
}

export function rgbToYuv(coding: ColorCoding): FromRgb {
  const { red, blue } = LUMA_WEIGHTS[coding.matrix];
  const { black, luma, chroma } = codesOf(coding);
  const green = 1 - red - blue;
  const u = chroma / (2 * (1 - blue));
  const v = chroma / (2 * (1 - red));
  return {
    black,
    yR: red * luma,
    yG: green * luma,
    yB: blue * luma,
    uR: -red * u,
    uG: -green * u,
    uB: (1 - blue) * u,
    vR: (1 - red) * v,
    vG: -green * v,
    vB: -blue * v,
  };
}

/** A rectangle in picture pixels, edges at pixel borders: a whole picture is { x1: 0, y1: 0, x2: width, y2: height }. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** x' = a·x + b·y + c, y' = d·x + e·y + f. */
export interface Affine {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** The inverse transform. The determinant must not be 0. */
export function invertAffine({ a, b, c, d, e, f }: Affine): Affine {
  const determinant = a * e - b * d;
  const inverse = { a: e / determinant, b: -b / determinant, d: -d / determinant, e: a / determinant };
  return { ...inverse, c: -inverse.a * c - inverse.b * f, f: -inverse.d * c - inverse.e * f };
}
