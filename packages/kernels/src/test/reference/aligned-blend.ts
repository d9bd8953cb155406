import { rgbToYuv } from '../../colour-conversion';
import { type PictureFormat, pictureLayout } from '../../picture-format';
import { blendSample } from './blend-sample';
import { unitLevel } from './unit-level';

/** Two neighbouring rows of a face to blend into a picture, `stride` values apart, from their first column on. */
export interface FaceRows {
  readonly stride: number;
  /** How much of the face to show, in [0, 1]. */
  readonly alpha: Float32Array;
  /** In [-1, 1]: two rows of red, two of green, two of blue. */
  readonly rgb: Float32Array;
}

/**
 * Blends `columns` (even) values of two rows into a yuv420p picture, from the even column `left` of the even row `top`
 * on. A chroma sample takes the mean of its four pixels, each weighted by its alpha, and is blended by the mean of the
 * alphas. Samples with only zero alphas are not written.
 */
export type BlendRows = (picture: Uint8Array, left: number, top: number, columns: number) => void;

export function createAlignedBlend(format: PictureFormat, { stride, alpha, rgb }: FaceRows): BlendRows {
  const { width, matrix, range } = format;
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);

  return (picture, left, top, columns) => {
    let chroma = (top >> 1) * chromaWidth + (left >> 1);
    for (let x = 0; x < columns; x += 2, chroma++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const at = (k >> 1) * stride + x + (k & 1);
        const share = alpha[at] ?? 0;
        if (share === 0) continue;
        const r = unitLevel(rgb[at] ?? 0);
        const g = unitLevel(rgb[at + 2 * stride] ?? 0);
        const b = unitLevel(rgb[at + 4 * stride] ?? 0);
        red += share * r;
        green += share * g;
        blue += share * b;
        total += share;
        blendSample(
          picture,
          (top + (k >> 1)) * width + left + x + (k & 1),
          black + yR * r + yG * g + yB * b,
          share,
        );
      }
      if (total === 0) continue;
      blendSample(picture, uOffset + chroma, 128 + (uR * red + uG * green + uB * blue) / total, total / 4);
      blendSample(picture, vOffset + chroma, 128 + (vR * red + vG * green + vB * blue) / total, total / 4);
    }
  };
}
