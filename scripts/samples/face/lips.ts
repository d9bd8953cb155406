import { lowerLipEdge, MOUTH_HALF_WIDTH, mouthLine, upperLipEdge } from './mouth-shape';
import { blend, ramp, type Rgb, scaled } from './shapes';
import { valueNoise } from './value-noise';

const LIP: Rgb = [0.52, 0.17, 0.155];
const LINE: Rgb = [0.13, 0.03, 0.025];
const SOFT = 0.016;

/** Paints the lips over the colour of the skin. */
export function paintLips(skin: Rgb, x: number, y: number): Rgb {
  if (Math.abs(x) > MOUTH_HALF_WIDTH + 0.08 || y < 0.85 || y > 1.4) return skin;
  const upper = upperLipEdge(x);
  const lower = lowerLipEdge(x);
  const within = ramp(MOUTH_HALF_WIDTH + 0.01, MOUTH_HALF_WIDTH - 0.05, Math.abs(x));
  const amount = ramp(upper - SOFT, upper + SOFT, y) * ramp(lower + SOFT, lower - SOFT, y) * within;
  const wrinkles = 0.9 + 0.2 * valueNoise(x * 45, y * 5, 71);
  const below = y - mouthLine(x);
  const tone = scaled(LIP, wrinkles * (below < 0 ? 0.86 : 1.06));
  const line =
    Math.exp(-((below / 0.014) ** 2)) * ramp(MOUTH_HALF_WIDTH + 0.05, MOUTH_HALF_WIDTH - 0.03, Math.abs(x));
  return blend(blend(skin, tone, 0.8 * amount), LINE, 0.85 * line);
}
