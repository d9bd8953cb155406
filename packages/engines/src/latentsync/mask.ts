import { blurLines, type Box, gaussianKernel, INVISIBLE, LANCZOS } from '@lipsync/kernels';
import { alignedSize } from './faces';
import { type LatentsyncParams } from './manifest';

/** Gray levels of the picture in which the mask is published. */
const LEVELS = 255;

/**
 * The part of an aligned face that is generated, as a picture [side, side]: 1 inside, 0 outside. At a size other than
 * that of the spans it is resampled with Lanczos, clipped and rounded to gray levels, as LatentSync
 * (https://github.com/bytedance/LatentSync) resizes its mask, so that the border has intermediate levels.
 */
export function inpaintMask({ size, spans }: LatentsyncParams['mask'], side: number): Float32Array {
  const original = new Float32Array(size * size);
  for (const [row, first, last] of spans) original.fill(1, row * size + first, row * size + last + 1);
  if (side === size) return original;

  // Rows, then columns: the same function twice, with a transposition in between.
  const halfway = resizedLines(original, size, side);
  return resizedLines(halfway, size, side).map(
    (value) => Math.round(Math.min(Math.max(value, 0), 1) * LEVELS) / LEVELS,
  );
}

/** Resamples each line of `size` values to `side` values and transposes the picture. */
function resizedLines(picture: Float32Array, size: number, side: number): Float32Array {
  const lines = picture.length / size;
  const step = size / side;
  const stretch = Math.max(1, step);
  const reach = LANCZOS.radius * stretch;
  const turned = new Float32Array(side * lines);
  for (let k = 0; k < side; k++) {
    const center = (k + 0.5) * step - 0.5;
    const first = Math.floor(center - reach) + 1;
    const weights = Array.from({ length: 2 * Math.ceil(reach) }, (_, t) =>
      LANCZOS.weight(Math.abs(first + t - center) / stretch),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (let line = 0; line < lines; line++) {
      let value = 0;
      weights.forEach((weight, t) => {
        const at = Math.min(Math.max(first + t, 0), size - 1);
        value += (weight / sum) * (picture[line * size + at] ?? 0);
      });
      turned[k * lines + line] = value;
    }
  }
  return turned;
}

/**
 * The mask as the network gets it, for every cell of its latent: 1 where the face is kept, 0 where it is generated.
 * Each cell takes the value of its first pixel.
 */
export function latentKeepMask(
  mask: Float32Array,
  side: number,
  { height, width }: { readonly height: number; readonly width: number },
): Float32Array {
  return Float32Array.from({ length: height * width }, (_, cell) => {
    const row = Math.floor((Math.floor(cell / width) * side) / height);
    const column = Math.floor(((cell % width) * side) / width);
    return 1 - (mask[row * side + column] ?? 0);
  });
}

/** Width of the faded border, as a fraction of the aligned face's side: ⌊√area⌋ / 20 (LatentSync). */
const BORDER = 20;

/** Pixels, at a crop of 256, over which the generated part fades towards its inside. */
const FEATHER = 4;
const FEATHER_SIDE = 256;

/**
 * How much of a generated face to show at each pixel of its crop, [side, side] in [0, 1]: LatentSync's soft box
 * (https://github.com/bytedance/LatentSync: the box eroded by a twentieth of its side, then blurred by twice that),
 * times the generated part of the face (`inpaintMask`), faded towards its inside. Outside the generated part it is
 * exactly 0, so that nothing else of the frame changes; the published code pastes the whole resampled box back.
 *
 * It is computed once, in the crop, and rotates and scales with the face. The published code computes a mask per frame
 * with rounded pixel counts, which fails for boxes under 20 pixels.
 */
export function softMask(inpaint: Float32Array, side: number): Float32Array {
  const { width, height } = alignedSize(side);
  const border = Math.floor(Math.floor(Math.sqrt(width * height)) / BORDER);
  const across = softEdges(side, border, side / width);
  const down = softEdges(side, border, side / height);
  const inner = fadedInside(inpaint, side, Math.round((FEATHER * side) / FEATHER_SIDE));
  return inner.map((value, i) => {
    const soft = value * (across[i % side] ?? 0) * (down[Math.floor(i / side)] ?? 0);
    return soft < INVISIBLE ? 0 : soft;
  });
}

/** The pixels of a mask [side, side] that are not 0. */
export function boundsOf(mask: Float32Array, side: number): Box {
  const box = { x1: side, y1: side, x2: 0, y2: 0 };
  mask.forEach((value, i) => {
    if (value === 0) return;
    const [x, y] = [i % side, Math.floor(i / side)];
    box.x1 = Math.min(box.x1, x);
    box.y1 = Math.min(box.y1, y);
    box.x2 = Math.max(box.x2, x + 1);
    box.y2 = Math.max(box.y2, y + 1);
  });
  return box;
}

/** One side of the box: 0 at its ends, 1 inside. `border` is in pixels of `scale` samples. */
function softEdges(side: number, border: number, scale: number): Float32Array {
  if (border === 0) return new Float32Array(side).fill(1);
  const half = gaussianKernel(2 * border + 1, scale);
  const inside = (at: number): number =>
    at + 0.5 >= border * scale && at + 0.5 <= side - border * scale ? 1 : 0;
  return Float32Array.from({ length: side }, (_, at) =>
    half.reduce(
      (sum, weight, d) => sum + weight * (d === 0 ? inside(at) : inside(at - d) + inside(at + d)),
      0,
    ),
  );
}

/** Erodes by `reach` and blurs by as much: 0 wherever the mask is not 1, and 1 from twice the reach on. */
function fadedInside(mask: Float32Array, side: number, reach: number): Float32Array {
  if (reach === 0) return mask;
  // Rows, then columns: each function twice, with a transposition in between.
  const eroded = erodeLines(erodeLines(mask, side, reach), side, reach);
  const half = gaussianKernel(2 * reach + 1, 1);
  return blurLines(blurLines(eroded, side, half), side, half);
}

/** The minimum within `reach` in each line; transposes the picture. Outside counts as 0. */
function erodeLines(picture: Float32Array, side: number, reach: number): Float32Array {
  const turned = new Float32Array(side * side);
  for (let line = 0; line < side; line++) {
    for (let at = 0; at < side; at++) {
      let least = 1;
      for (let k = at - reach; k <= at + reach; k++) {
        least = Math.min(least, k >= 0 && k < side ? (picture[line * side + k] ?? 0) : 0);
      }
      turned[at * side + line] = least;
    }
  }
  return turned;
}
