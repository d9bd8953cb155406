import { blend, clamp, ramp, type Rgb } from './shapes';
import { valueNoise } from './value-noise';

const HAIR: Rgb = [0.045, 0.026, 0.017];

/** Paints an eyebrow over the skin; x is the distance from the middle of the face, outwards. */
export function paintBrow(skin: Rgb, x: number, y: number): Rgb {
  const t = (x - 0.2) / 0.62;
  if (t < -0.1 || t > 1.1) return skin;
  const centre = -0.27 - 0.13 * Math.sin(clamp(t) ** 0.85 * 2.35) + 0.035 * t;
  const thickness = 0.052 * (1 - 0.65 * clamp(t) ** 1.6);
  const strands = 0.55 + 0.6 * valueNoise(x * 50 + y * 40, y * 25 - x * 12, 17);
  const body = Math.exp(-(((y - centre) / thickness) ** 4)) * ramp(-0.06, 0.1, t) * ramp(1.04, 0.85, t);
  return blend(skin, HAIR, clamp(0.85 * body * strands));
}
