import { clamp, type Rgb } from './shapes';

export type Vector = readonly [number, number, number];

const unit = ([x, y, z]: Vector): Vector => {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
};
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** A large window at the upper left, a weak reflector at the right; z points to the viewer. */
const KEY = unit([-0.55, -0.6, 0.85]);
const FILL = unit([0.8, 0.1, 0.6]);
const HALF_KEY = unit([KEY[0], KEY[1], KEY[2] + 1]);

/** The normal of a height field with these slopes. */
export const normalOf = (slopeX: number, slopeY: number): Vector => unit([-slopeX, -slopeY, 1]);

/** The light that a surface reflects, per colour: soft-edged, slightly redder in half shadow, as skin is. */
export function diffuse(normal: Vector, softness: number): Rgb {
  const wrapped = (light: Vector, soft: number): number => clamp((dot(normal, light) + soft) / (1 + soft));
  const fill = 0.2 * wrapped(FILL, 0.4) + 0.16 * (0.6 - 0.4 * normal[1]);
  return [
    0.95 * wrapped(KEY, softness * 1.6) + fill,
    0.93 * wrapped(KEY, softness) + fill,
    0.9 * wrapped(KEY, softness * 0.8) + fill * 1.05,
  ];
}

/** Highlight strength, 0..1. */
export const specular = (normal: Vector, sharpness: number): number =>
  clamp(dot(normal, HALF_KEY)) ** sharpness;
