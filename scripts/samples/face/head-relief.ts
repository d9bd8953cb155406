import { MOUTH_HALF_WIDTH, mouthLine } from './mouth-shape';
import { bump, clamp, ramp } from './shapes';

/*
 * Head coordinates: the origin lies between the eyes, x to the viewer's right, y down; one unit is the distance of the
 * eye centres. Nose base about 0.68, mouth 1.08, chin 1.82, as in an average adult face.
 */

const CHIN = 1.84;
const CROWN = -1.5;
const HALF_WIDTH = 1.0;
/** Height of the widest point. */
const WIDEST = 0.05;

/** How far a point is from the middle of the face towards the outline: 0 in the middle, 1 on the outline. */
export function faceRadius(x: number, y: number): number {
  // Narrower from the cheekbones to the chin.
  const side = Math.abs(x) / (HALF_WIDTH * (1 - 0.1 * ramp(0.35, 1.6, y)));
  if (y < WIDEST) {
    const up = (y - WIDEST) / (CROWN - WIDEST);
    return (side ** 2.2 + up ** 2.2) ** (1 / 2.2);
  }
  const down = (y - WIDEST) / (CHIN - WIDEST);
  return (side ** 2.2 + down ** 2.5) ** (1 / 2.2);
}

/** Height of the face above the plane of its outline, in head units. */
export function faceHeight(x: number, y: number): number {
  const radius = Math.min(1, faceRadius(x, y));
  return (
    0.92 * Math.sqrt(1 - radius ** 2.6) + brow(x, y) + eyes(x, y) + nose(x, y) + cheeks(x, y) + mouth(x, y)
  );
}

const both = (x: number, y: number, cx: number, cy: number, sx: number, sy: number): number =>
  bump(x, y, cx, cy, sx, sy) + bump(x, y, -cx, cy, sx, sy);

const brow = (x: number, y: number): number => 0.05 * both(x, y, 0.46, -0.27, 0.34, 0.11);

const eyes = (x: number, y: number): number =>
  -0.11 * both(x, y, 0.47, 0.0, 0.27, 0.17) -
  0.05 * both(x, y, 0.19, 0.0, 0.1, 0.13) +
  0.075 * both(x, y, 0.5, 0.0, 0.17, 0.11);

function nose(x: number, y: number): number {
  const along = clamp((y + 0.2) / 0.78);
  const underside = 1 - ramp(0.6, 0.74, y);
  const ridge =
    (0.05 + 0.17 * along) * Math.exp(-((x / (0.12 + 0.06 * along)) ** 2)) * ramp(-0.35, 0.05, y) * underside;
  const tip = 0.13 * bump(x, y, 0, 0.54, 0.13, 0.11);
  const wings = 0.1 * both(x, y, 0.165, 0.6, 0.075, 0.075);
  return ridge + tip + wings;
}

const cheeks = (x: number, y: number): number =>
  0.07 * both(x, y, 0.6, 0.42, 0.28, 0.24) - 0.03 * both(x, y, 0.36 + 0.12 * (y - 0.7), 0.86, 0.05, 0.18);

function mouth(x: number, y: number): number {
  const inside = ramp(MOUTH_HALF_WIDTH * 1.15, MOUTH_HALF_WIDTH * 0.8, Math.abs(x));
  const below = y - mouthLine(x);
  const lips =
    0.055 * Math.exp(-(((below + 0.055) / 0.055) ** 2)) + 0.07 * Math.exp(-(((below - 0.075) / 0.07) ** 2));
  const crease = -0.05 * Math.exp(-((below / 0.018) ** 2));
  const muzzle = 0.07 * bump(x, y, 0, 1.05, 0.42, 0.3);
  const philtrum = -0.02 * bump(x, y, 0, 0.84, 0.04, 0.1);
  const corners = -0.02 * both(x, y, MOUTH_HALF_WIDTH + 0.03, 1.07, 0.05, 0.06);
  const chin = -0.05 * bump(x, y, 0, 1.36, 0.24, 0.06) + 0.07 * bump(x, y, 0, 1.6, 0.24, 0.15);
  return (lips + crease) * inside * (1 - 0.5 * Math.abs(x)) + muzzle + philtrum + corners + chin;
}
