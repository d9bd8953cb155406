import { type Tensor } from '@lipsync/engines';
import { type RgbPicture } from '@lipsync/kernels';

/** A network input in preparation: packed RGB pixels that can be passed to a graph. */
export interface InputPicture extends RgbPicture {
  readonly data: Uint8Array<ArrayBuffer>;
}

export function blankPicture(width: number, height: number): InputPicture {
  return { width, height, data: new Uint8Array(width * height * 3) };
}

/** One picture as a batch of one: [1, height, width, 3]. */
export function pictureTensor({ width, height, data }: InputPicture): Tensor {
  return { type: 'uint8', dims: [1, height, width, 3], data };
}

/** Reverses every row of a square picture's pixels, in place. */
export function mirrorRows({ width, height, data }: RgbPicture): void {
  for (let row = 0; row < height; row++) {
    const pixels = data.subarray(row * width * 3, (row + 1) * width * 3).reverse();
    // Reversing the bytes also swapped red and blue in every pixel.
    for (let i = 0; i < pixels.length; i += 3) {
      const blue = pixels[i] ?? 0;
      pixels[i] = pixels[i + 2] ?? 0;
      pixels[i + 2] = blue;
    }
  }
}
