import { diffuse, normalOf } from './lighting';
import { blend, bump, clamp, mix, ramp, type Rgb } from './shapes';
import { cloudNoise, valueNoise } from './value-noise';

const NECK: Rgb = [0.52, 0.3, 0.22];
const KNIT: Rgb = [0.09, 0.17, 0.2];
const NECKLINE = 0.74;

/** Coverage and colour of neck and shoulders at a point in head coordinates of the head at rest. */
export function torso(x: number, y: number): { readonly cover: number; readonly colour: Rgb } {
  const side = Math.abs(x);
  // A round neckline between the shoulders, which slope away from it.
  const hem = side < NECKLINE ? 2.5 - 0.3 * (side / NECKLINE) ** 2.5 : 2.2 + shoulder(side - NECKLINE);
  const knit = ramp(hem - 0.02, hem + 0.02, y);
  const halfNeck = 0.54 + 0.16 * ramp(1.9, 2.6, y) ** 2;
  const neck = ramp(halfNeck + 0.015, halfNeck - 0.015, side) * ramp(1.0, 1.1, y);
  const cover = knit + neck * (1 - knit);
  const colour =
    cover === 0 ? NECK : blend(neckColour(x, y, halfNeck), knitColour(x, y, y - hem), knit / cover);
  return { cover, colour };
}

/** How far the shoulder has dropped at this distance from the neckline: gently at first, then round into the arm. */
const shoulder = (out: number): number => 0.3 * out + 0.9 * Math.max(0, out - 0.75) ** 2.2;

function neckColour(x: number, y: number, halfWidth: number): Rgb {
  const across = clamp(x / halfWidth, -1, 1);
  const normal = normalOf(across / Math.sqrt(1.15 - across * across), 0.1);
  const light = diffuse(normal, 0.35);
  const chinShadow = mix(0.32, 1, ramp(1.75, 2.35, y - 0.1 * Math.abs(x)));
  const tendons = 1 - 0.1 * bump(Math.abs(x), y, 0.22, 2.4, 0.05, 0.35);
  const level = chinShadow * tendons * (0.95 + 0.1 * cloudNoise(x * 5, y * 5, 61, 2));
  return [NECK[0] * light[0] * level, NECK[1] * light[1] * level, NECK[2] * light[2] * level];
}

/** `below`: distance from the neckline, along which a ribbed band runs. */
function knitColour(x: number, y: number, below: number): Rgb {
  const ribs = 0.86 + 0.2 * valueNoise(x * 26 + 3 * y, y * 5, 83) + 0.1 * cloudNoise(x * 3, y * 3, 89, 3);
  const normal = normalOf(0.35 * x, -0.5 + 0.25 * (y - 2.4));
  const light = diffuse(normal, 0.3);
  const band = Math.abs(x) < NECKLINE ? Math.exp(-(((below - 0.13) / 0.012) ** 2)) : 0;
  const level = ribs * (1 - 0.4 * band);
  return [KNIT[0] * light[0] * level, KNIT[1] * light[1] * level, KNIT[2] * light[2] * level];
}
