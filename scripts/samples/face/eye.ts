import { blend, clamp, ramp, type Rgb, scaled } from './shapes';
import { valueNoise } from './value-noise';

const HALF_WIDTH = 0.215;
const IRIS = 0.092;
const PUPIL = 0.038;
const SCLERA: Rgb = [0.72, 0.68, 0.65];
const IRIS_DARK: Rgb = [0.035, 0.022, 0.014];
const IRIS_LIGHT: Rgb = [0.2, 0.12, 0.055];
const LASH: Rgb = [0.012, 0.008, 0.007];
const LID_SHADOW: Rgb = [0.2, 0.085, 0.06];

/** Upper and lower lid at `t` (−1 inner … 1 outer corner), y relative to the eye's centre; closed: both meet below. */
function lids(t: number, closed: number): { upper: number; lower: number } {
  const arch = (1 - t * t) ** 0.75;
  const tilt = -0.016 * t;
  const lower = tilt + 0.058 * (1 - t ** 4) ** 1.1 * (1 - 0.15 * closed);
  const open = tilt - 0.095 * arch * (1 + 0.1 * t);
  return { upper: open + (lower - 0.004 - open) * closed, lower };
}

/**
 * Paints one eye, its lashes and the fold above it over the skin. `x` and `y` are relative to the eye's centre, with x
 * growing outwards; `gaze` moves the iris to the viewer's right, `outward` is +1 for the viewer's right eye.
 */
export function paintEye(
  skin: Rgb,
  x: number,
  y: number,
  closed: number,
  gaze: number,
  outward: number,
): Rgb {
  if (Math.abs(x) > 0.34 || Math.abs(y) > 0.27) return skin;
  const t = clamp(x / HALF_WIDTH, -1, 1);
  const { upper, lower } = lids(t, closed);
  const within = ramp(HALF_WIDTH + 0.01, HALF_WIDTH - 0.012, Math.abs(x));
  const opening = ramp(upper - 0.006, upper + 0.006, y) * ramp(lower + 0.006, lower - 0.006, y) * within;

  const fold = lids(t, 0).upper - 0.052 - 0.012 * (1 - t * t);
  const foldLine =
    Math.exp(-(((y - fold) / 0.013) ** 2)) * ramp(0.24, 0.14, Math.abs(x)) * (1 - 0.6 * closed);
  const socket = Math.exp(-(((y - fold) / 0.05) ** 2)) * ramp(0.3, 0.1, Math.abs(x));
  let colour = blend(skin, LID_SHADOW, clamp(0.5 * foldLine + 0.22 * socket));
  const bag = Math.exp(-(((y - lower - 0.06) / 0.022) ** 2)) * ramp(0.24, 0.1, Math.abs(x));
  colour = blend(colour, LID_SHADOW, 0.16 * bag);

  colour = blend(colour, eyeball(x * outward - gaze, x, y, upper), opening);

  const lashes =
    Math.exp(-(((y - upper + 0.004) / (0.011 + 0.004 * t)) ** 2)) *
    ramp(HALF_WIDTH + 0.05, HALF_WIDTH - 0.03, Math.abs(x));
  const lowerLashes =
    Math.exp(-(((y - lower) / 0.008) ** 2)) * ramp(HALF_WIDTH + 0.01, HALF_WIDTH - 0.06, Math.abs(x));
  return blend(blend(colour, LASH, 0.9 * lashes), LID_SHADOW, 0.55 * lowerLashes);
}

/** `u`: horizontal distance from the iris' centre; `x`: from the eye's centre, outwards. */
function eyeball(u: number, x: number, y: number, upper: number): Rgb {
  const shadow = 0.45 + 0.55 * ramp(upper, upper + 0.07, y);
  const corner: Rgb = [0.6, 0.3, 0.27];
  let colour = scaled(blend(SCLERA, corner, ramp(-0.15, -0.2, x)), 1 - 0.9 * (x / 0.3) ** 2);
  const radius = Math.hypot(u, y + 0.012);
  const fibres = valueNoise(Math.atan2(y, u) * 9, radius * 30, 5);
  const iris = blend(
    IRIS_DARK,
    IRIS_LIGHT,
    clamp(0.25 + 0.6 * fibres + 3 * (y - 0.01)) * ramp(IRIS, IRIS * 0.75, radius),
  );
  colour = blend(colour, iris, ramp(IRIS + 0.006, IRIS - 0.006, radius));
  colour = blend(colour, LASH, ramp(PUPIL + 0.006, PUPIL - 0.006, radius));
  colour = scaled(colour, shadow);
  const glint = Math.exp(-(((u + 0.034) / 0.016) ** 2) - ((y + 0.05) / 0.016) ** 2);
  return blend(colour, [0.95, 0.95, 0.95], glint);
}
