import { clamp } from './shapes';

export const MOUTH_HALF_WIDTH = 0.4;
const MOUTH_Y = 1.075;

/** Where the closed lips meet: a shallow M with corners slightly higher than the middle. */
export function mouthLine(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  return MOUTH_Y + 0.012 * Math.cos(t * Math.PI * 1.6) - 0.02 * t * t;
}

/** Upper edge of the upper lip, with the dip in the middle; meets the mouth line at the corners. */
export function upperLipEdge(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  const bow = 0.135 * (1 - t ** 1.6) - 0.026 * Math.exp(-((t / 0.16) ** 2));
  return mouthLine(x) - bow;
}

/** Lower edge of the lower lip. */
export function lowerLipEdge(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  return mouthLine(x) + 0.175 * (1 - t ** 2.2) ** 0.8;
}
