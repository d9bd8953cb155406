import { type MouthPose, MOUTH_Y, mouthLine, MOUTH_HALF_WIDTH } from './mouth-shape';
import { blend, clamp, ramp, type Rgb, scaled } from './shapes';

const DARK: Rgb = [0.045, 0.011, 0.01];
const TOOTH: Rgb = [0.55, 0.47, 0.37];
const TONGUE: Rgb = [0.38, 0.12, 0.11];
/** Where one tooth ends and the next begins, from the middle outwards. */
const SEAMS = [0, 0.086, 0.152, 0.222, 0.29, 0.36];

/** Colour of what is seen between the lips. */
export function insideMouth(pose: MouthPose, x: number, y: number): Rgb {
  const side = Math.abs(x);
  const t = clamp(side / pose.halfWidth);
  const seam = Math.min(...SEAMS.map((at) => Math.abs(side - at)));
  const tooth = SEAMS.findIndex((at) => side < at);
  // Lips that are drawn together stand out before the teeth, and shade them.
  const reached = 0.3 + 0.7 * ramp(0.25, 0.38, pose.halfWidth);
  const row = scaled(TOOTH, reached * (1 - 0.75 * t ** 2.2) * (tooth % 2 === 0 ? 0.95 : 1));
  const gaps = 1 - 0.3 * Math.exp(-((seam / 0.006) ** 2));

  const tongueTop = MOUTH_Y + 0.085 + 0.55 * pose.jaw + 0.5 * x * x;
  let colour = blend(
    DARK,
    scaled(TONGUE, 0.45 + 0.5 * ramp(tongueTop, tongueTop + 0.1, y)),
    ramp(tongueTop - 0.012, tongueTop + 0.03, y) * ramp(0.3, 0.2, side),
  );

  const lowerTop =
    MOUTH_Y + 0.1 + pose.jaw - 0.02 * Math.cos((side / 0.3) * 1.5) + 0.012 * Math.exp(-((seam / 0.014) ** 2));
  colour = blend(
    colour,
    scaled(row, 0.72 * gaps),
    ramp(lowerTop - 0.008, lowerTop + 0.008, y) * ramp(0.27, 0.22, side),
  );

  const upperEnd = MOUTH_Y + 0.04 - 0.3 * x * x - 0.016 * Math.exp(-((seam / 0.016) ** 2));
  const shadow =
    0.55 +
    0.45 *
      ramp(mouthLine(x * (MOUTH_HALF_WIDTH / pose.halfWidth)) - pose.lift, MOUTH_Y - pose.lift + 0.06, y);
  return blend(
    colour,
    scaled(row, shadow * gaps),
    ramp(upperEnd + 0.008, upperEnd - 0.008, y) * ramp(0.36, 0.3, side),
  );
}
