import { type PictureFormat, rgbToYuv, yuvToRgb } from '../../picture';

type Color = readonly [number, number, number];

/** Converts Y, U, V codes of a picture to R, G, B in [-1, 1]. */
export function toRgb({ matrix, range }: PictureFormat) {
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(matrix, range);
  return (y: number, u: number, v: number): Color => {
    const light = luma * (y - black);
    const [blueness, redness] = [u - 128, v - 128];
    return [
      signed(light + redV * redness),
      signed(light + greenU * blueness + greenV * redness),
      signed(light + blueU * blueness),
    ];
  };
}

/** Converts R, G, B in [-1, 1], which networks overshoot, to Y, U, V codes of a picture before rounding. */
export function toYuv({ matrix, range }: PictureFormat) {
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);
  return (red: number, green: number, blue: number): Color => {
    const [r, g, b] = [unit(red), unit(green), unit(blue)];
    return [black + yR * r + yG * g + yB * b, 128 + uR * r + uG * g + uB * b, 128 + vR * r + vG * g + vB * b];
  };
}

/** Blends `value` into a sample of a picture, weighted by `share` and rounded. */
export function blend(picture: Uint8Array, at: number, value: number, share: number): void {
  const old = picture[at] ?? 0;
  picture[at] = clamp(old + (value - old) * share + 0.5, 0, 255);
}

/** Looked up once, because access to a global is slow in a test. */
const { min, max } = Math;

export const clamp = (value: number, low: number, high: number): number => min(max(value, low), high);

/** From [0, 1], with what is beyond cut off, to [-1, 1]. */
const signed = (level: number): number => 2 * clamp(level, 0, 1) - 1;
/** From [-1, 1] to [0, 1]. */
const unit = (value: number): number => clamp((value + 1) / 2, 0, 1);
