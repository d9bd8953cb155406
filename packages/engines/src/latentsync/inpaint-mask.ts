import { LANCZOS } from '@lipsync/kernels';

/** Runs of columns in the rows of a square of `size` pixels: [row, first column, last column], inclusive. */
export interface MaskSpans {
  readonly size: number;
  readonly spans: readonly (readonly [number, number, number])[];
}

/** Grey levels of the picture in which the mask is published. */
const LEVELS = 255;

/**
 * The part of an aligned face that is generated, as a picture [side, side]: 1 inside, 0 outside. At a size other than
 * that of the spans it is resampled with Lanczos, clipped and rounded to grey levels, as LatentSync
 * (https://github.com/bytedance/LatentSync) resizes its mask, so that the border has intermediate levels.
 */
export function inpaintMask({ size, spans }: MaskSpans, side: number): Float32Array {
  const original = new Float32Array(size * size);
  for (const [row, first, last] of spans) {
    if (row >= size || last >= size) throw new RangeError(`the mask leaves its ${size} pixels in row ${row}`);
    original.fill(1, row * size + first, row * size + last + 1);
  }
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
    const centre = (k + 0.5) * step - 0.5;
    const first = Math.floor(centre - reach) + 1;
    const weights = Array.from({ length: 2 * Math.ceil(reach) }, (_, t) =>
      LANCZOS.weight(Math.abs(first + t - centre) / stretch),
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
