import { rgbToYuv } from '../colour-conversion';
import { pictureLayout, type PictureFormat } from '../picture-format';

/**
 * Blends two picture rows, from the even column `left` of the even row `top` on. `rgb` holds R, R, G, G, B, B and
 * `alpha` two rows of `columns` (even) values; colours are in [-1, 1]. A chroma sample takes the mean of its four
 * pixels, weighted by the mean of their alphas. Samples with alpha 0 are not written.
 */
export function createBlendRows(format: PictureFormat) {
  const { width, matrix, range } = format;
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);

  const blend = (picture: Uint8Array, at: number, value: number, alpha: number): void => {
    const old = picture[at] ?? 0;
    const mixed = old + (value - old) * alpha + 0.5;
    picture[at] = mixed < 0 ? 0 : mixed > 255 ? 255 : mixed;
  };
  const unit = (value: number | undefined): number => {
    const level = ((value ?? 0) + 1) / 2;
    return level < 0 ? 0 : level > 1 ? 1 : level;
  };

  return (
    picture: Uint8Array,
    left: number,
    top: number,
    columns: number,
    rgb: Float32Array,
    alpha: Float32Array,
  ): void => {
    let chroma = (top >> 1) * chromaWidth + (left >> 1);
    for (let x = 0; x < columns; x += 2, chroma++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const dx = x + (k & 1);
        const dy = k >> 1;
        const a = alpha[dy * columns + dx] ?? 0;
        const r = unit(rgb[dy * columns + dx]);
        const g = unit(rgb[(2 + dy) * columns + dx]);
        const b = unit(rgb[(4 + dy) * columns + dx]);
        red += r;
        green += g;
        blue += b;
        total += a;
        if (a > 0) blend(picture, (top + dy) * width + left + dx, black + yR * r + yG * g + yB * b, a);
      }
      if (total === 0) continue;
      blend(picture, uOffset + chroma, 128 + (uR * red + uG * green + uB * blue) / 4, total / 4);
      blend(picture, vOffset + chroma, 128 + (vR * red + vG * green + vB * blue) / 4, total / 4);
    }
  };
}
