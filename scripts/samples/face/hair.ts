import { blend, clamp, ramp, type Rgb } from './shapes';
import { cloudNoise, valueNoise } from './value-noise';

const DARK: Rgb = [0.02, 0.012, 0.008];
const LIGHT: Rgb = [0.17, 0.095, 0.05];

const CENTRE_Y = -0.25;

/** Outline of all hair: 1 on the edge, less inside. It falls to the jaw on both sides. */
function hairRadius(x: number, y: number): number {
  const wave = 0.05 * (cloudNoise(x * 2, y * 2, 41, 2) - 0.5);
  if (y < CENTRE_Y) return Math.hypot(x / 1.3, (y - CENTRE_Y) / 1.5) + wave;
  const width = 1.3 + 0.1 * ramp(0, 1.2, y);
  return Math.hypot(x / width, Math.max(0, y - 0.95) / 0.75) + wave;
}

/** How far the face is uncovered between the strands: 1 inside the opening. */
function faceOpening(x: number, y: number): number {
  const part = x + 0.22;
  const top = -0.98 + 0.35 * Math.abs(part) ** 1.7;
  const side = 0.9 + 0.1 * ramp(0.2, 1.4, y) + 0.03 * (valueNoise(y * 5, 0, 13) - 0.5);
  return ramp(top - 0.05, top + 0.06, y) * ramp(side + 0.05, side - 0.05, Math.abs(x));
}

/** Coverage (0..1) of the hair in front of and behind the face. */
export function hairCover(x: number, y: number): { readonly front: number; readonly all: number } {
  const all = ramp(1.02, 0.97, hairRadius(x, y));
  return { all, front: all * (1 - faceOpening(x, y)) };
}

/** Colour of the hair at a point: strands that run from the parting down the sides. */
export function hairColour(x: number, y: number): Rgb {
  const part = x + 0.22;
  const run = Math.atan2(part, -(y + 1.9) - 0.4);
  const across = Math.abs(run) * 34 + 1.5 * cloudNoise(x * 3, y * 1.5, 23, 2);
  const strands = 0.5 * valueNoise(across, y * 1.2, 29) + 0.5 * valueNoise(across * 3.1, y * 2, 31);
  const band = Math.exp(-(((y + 0.95 - 0.25 * part * part) / 0.3) ** 2));
  const sheen = band * (part < 0 ? 0.75 : 0.5);
  const edge = 0.55 + 0.45 * ramp(1.0, 0.75, hairRadius(x, y));
  const shade = ramp(1.9, 0.2, y);
  const value = clamp((0.12 + 0.5 * strands) * (0.35 + 0.65 * shade) + 0.55 * sheen * strands) * edge;
  return blend(DARK, LIGHT, value);
}
