import { type PictureFormat, pictureLayout } from '../../picture-format';
import { blendSample } from './blend-sample';

/** Two rows of a face in 8-bit codes. */
export interface FaceRows {
  /** Two rows in sequence. */
  readonly luma: Float32Array;
  /** One value for every two columns. */
  readonly u: Float32Array;
  readonly v: Float32Array;
}

/**
 * Blends two picture rows, from the even column `left` of the even row `top` on. `alpha` holds two rows of `columns`
 * (even) values. A chroma sample is weighted by the mean of its four pixels' alphas. Samples with alpha 0 are not
 * written.
 */
export function createBlendRows(format: PictureFormat) {
  const { width } = format;
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);

  return (
    picture: Uint8Array,
    left: number,
    top: number,
    columns: number,
    face: FaceRows,
    alpha: Float32Array,
  ): void => {
    const chroma = (top >> 1) * chromaWidth + (left >> 1);
    for (let x = 0; x < columns; x += 2) {
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const dx = x + (k & 1);
        const dy = k >> 1;
        const a = alpha[dy * columns + dx] ?? 0;
        total += a;
        if (a > 0) blendSample(picture, (top + dy) * width + left + dx, face.luma[dy * columns + dx] ?? 0, a);
      }
      if (total === 0) continue;
      blendSample(picture, uOffset + chroma + x / 2, face.u[x / 2] ?? 0, total / 4);
      blendSample(picture, vOffset + chroma + x / 2, face.v[x / 2] ?? 0, total / 4);
    }
  };
}
