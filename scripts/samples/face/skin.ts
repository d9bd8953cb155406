import { paintBrow } from './brow';
import { paintEye } from './eye';
import { faceHeight } from './head-relief';
import { diffuse, normalOf, specular } from './lighting';
import { insideMouth } from './inside-mouth';
import { paintLips } from './lips';
import { atRest, type MouthPose } from './mouth-shape';
import { blend, bump, clamp, ramp, type Rgb } from './shapes';
import { cloudNoise, valueNoise } from './value-noise';

const SKIN: Rgb = [0.62, 0.36, 0.26];
const BLUSH: Rgb = [0.6, 0.25, 0.19];
const NOSTRIL: Rgb = [0.07, 0.02, 0.015];

export interface Expression {
  readonly mouth: MouthPose;
  /** 0 open … 1 closed. */
  readonly eyesClosed: number;
  /** Gaze direction, in head units to the viewer's right. */
  readonly gaze: number;
}

/** Colour of the lit face at a point in head coordinates. */
export function skinColour(seenX: number, seenY: number, expression: Expression): Rgb {
  const rest = atRest(expression.mouth, seenX, seenY);
  if (rest === null) return insideMouth(expression.mouth, seenX, seenY);
  const { x, y } = rest;
  const side = Math.abs(x);
  const tone = 0.94 + 0.1 * cloudNoise(x * 4, y * 4, 3, 3) + 0.05 * (valueNoise(x * 40, y * 40, 9) - 0.5);
  let albedo: Rgb = [SKIN[0] * tone, SKIN[1] * tone, SKIN[2] * tone];
  albedo = blend(
    albedo,
    BLUSH,
    clamp(0.5 * bump(side, y, 0.6, 0.5, 0.3, 0.22) + 0.4 * bump(x, y, 0, 0.55, 0.16, 0.12)),
  );
  albedo = paintLips(albedo, x, y);
  albedo = paintBrow(albedo, side, y);
  const outward = x < 0 ? -1 : 1;
  albedo = paintEye(albedo, side - 0.5, y, expression.eyesClosed, expression.gaze, outward);
  const nostril = bump(side, y - 0.35 * (side - 0.1), 0.1, 0.668, 0.056, 0.026);
  albedo = blend(albedo, NOSTRIL, clamp(1.3 * nostril));

  const step = 0.012;
  const slopeX = (faceHeight(x + step, y) - faceHeight(x - step, y)) / (2 * step);
  const slopeY = (faceHeight(x, y + step) - faceHeight(x, y - step)) / (2 * step);
  const normal = normalOf(0.85 * slopeX, 0.85 * slopeY);
  const light = diffuse(normal, 0.35);
  const shine =
    0.07 * specular(normal, 22) + 0.1 * specular(normal, 90) * ramp(0.1, 0.05, Math.abs(y - 1.2) * 0.4);
  const occlusion = 1 - 0.4 * bump(x, y, 0, 0.76, 0.2, 0.055) - 0.25 * bump(side, y, 0.24, 0.62, 0.035, 0.09);
  return [
    albedo[0] * light[0] * occlusion + shine,
    albedo[1] * light[1] * occlusion + shine,
    albedo[2] * light[2] * occlusion + shine,
  ];
}
