import { type PixelKernels, planMemory, startKernels } from './kernels';
import { type Point } from './picture';

/**
 * Resamples a patch into `out`, a packed RGB picture that determines the proportions of the patch. Every pixel is the
 * mean of enough bilinear samples to shrink without aliasing. Outside the picture is black.
 */
type SamplePatch = (picture: RgbPicture, patch: Patch, out: RgbPicture) => void;

/** More samples than this per output pixel and axis cost time without a visible effect. */
const MAX_OVERSAMPLING = 4;
/** How far the kernel may read beyond a picture. */
const OVERREAD_BYTES = 8;

interface Memory {
  readonly kernels: PixelKernels;
  readonly bytes: Uint8Array;
  readonly picture: number;
  readonly pictureBytes: number;
  readonly out: number;
  readonly outBytes: number;
}

/** A sampler for pictures of any size. It keeps memory for the largest. */
export function createPatchSampler(): SamplePatch {
  let memory: Memory | undefined;

  return (picture, patch, out) => {
    const pictureBytes = picture.width * picture.height * 3;
    const outBytes = out.width * out.height * 3;
    if (memory === undefined || memory.pictureBytes < pictureBytes || memory.outBytes < outBytes) {
      memory = startMemory(
        Math.max(pictureBytes, memory?.pictureBytes ?? 0),
        Math.max(outBytes, memory?.outBytes ?? 0),
      );
    }
    const { width, height, data } = picture;
    const samples = Math.min(MAX_OVERSAMPLING, Math.max(1, Math.round(patch.side / out.width)));
    const step = patch.side / out.width / samples;
    const stepX = step * Math.cos(patch.angle);
    const stepY = step * Math.sin(patch.angle);
    // Counted from the patch's center in sample steps; pixel (0, 0) of the picture has its center at (0.5, 0.5).
    const firstColumn = (1 - out.width * samples) / 2;
    const firstRow = (1 - out.height * samples) / 2;
    const originX = patch.x - 0.5 + firstColumn * stepX - firstRow * stepY;
    const originY = patch.y - 0.5 + firstColumn * stepY + firstRow * stepX;

    // Only the rows under the patch are copied.
    const reach = Math.abs(firstColumn * stepY) + Math.abs(firstRow * stepX) + 2;
    const from = Math.min(height, Math.max(0, Math.floor(patch.y - reach))) * width * 3;
    const to = Math.max(0, Math.min(height, Math.ceil(patch.y + reach))) * width * 3;
    if (to > from) memory.bytes.set(data.subarray(from, to), memory.picture + from);
    memory.kernels.samplePatch(
      memory.picture,
      width,
      height,
      originX,
      originY,
      stepX,
      stepY,
      samples,
      out.width,
      out.height,
      memory.out,
    );
    out.data.set(memory.bytes.subarray(memory.out, memory.out + outBytes));
  };
}

function startMemory(pictureBytes: number, outBytes: number): Memory {
  const plan = planMemory();
  const picture = plan.reserve(pictureBytes + OVERREAD_BYTES);
  const out = plan.reserve(outBytes + 1);
  const kernels = startKernels(plan.bytes);
  return { kernels, bytes: new Uint8Array(kernels.memory), picture, pictureBytes, out, outBytes };
}

/** A rectangle of a picture, possibly rotated: the position of a network's input in it. */
export interface Patch {
  /** Center, pixels. */
  readonly x: number;
  readonly y: number;
  /** Length along the patch's own horizontal axis, pixels. */
  readonly side: number;
  /** Clockwise rotation of that axis, radians. */
  readonly angle: number;
}

/** A packed 8-bit RGB picture, rows without padding. */
export interface RgbPicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Converts a point of a square patch, given as fractions of its sides (0..1), to pixels of the picture. */
export function patchPoint(patch: Patch, u: number, v: number): Point {
  const along = (u - 0.5) * patch.side;
  const down = (v - 0.5) * patch.side;
  const cos = Math.cos(patch.angle);
  const sin = Math.sin(patch.angle);
  return { x: patch.x + along * cos - down * sin, y: patch.y + along * sin + down * cos };
}
