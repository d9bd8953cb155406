import { clamp, mix, ramp } from './shapes';

/** Half the width of the mouth at rest, and the height of the line between closed lips. */
export const MOUTH_HALF_WIDTH = 0.39;
export const MOUTH_Y = 1.075;

/** What a mouth does, in head units beyond rest. */
export interface MouthPose {
  /** How far the lower lip is below its place at rest; negative where it is raised to the teeth. */
  readonly drop: number;
  /** How far the upper lip is above its place at rest. */
  readonly lift: number;
  /** How far the chin is down. */
  readonly jaw: number;
  readonly halfWidth: number;
  /** Thickness of the lips relative to rest: more where they are rounded, less where they are spread or pressed. */
  readonly fullness: number;
}

export const REST: MouthPose = { drop: 0, lift: 0, jaw: 0, halfWidth: MOUTH_HALF_WIDTH, fullness: 1 };

/** Where the closed lips meet: a shallow M with corners higher than the middle. */
export function mouthLine(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  return MOUTH_Y + 0.012 * Math.cos(t * Math.PI * 1.6) - 0.034 * t * t;
}

/** Upper edge of the upper lip, with the dip in the middle; meets the mouth line at the corners. */
export function upperLipEdge(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  const bow = 0.13 * (1 - t ** 1.7) - 0.026 * Math.exp(-((t / 0.16) ** 2));
  return mouthLine(x) - bow;
}

/** Lower edge of the lower lip. */
export function lowerLipEdge(x: number): number {
  const t = clamp(Math.abs(x) / MOUTH_HALF_WIDTH);
  return mouthLine(x) + 0.175 * (1 - t ** 2.2) ** 0.8;
}

/** How much of an opening there is at a share of the way from the middle to a corner. */
const opened = (t: number): number => Math.max(0, 1 - t ** 2.4) ** 0.7;

/** The point of the face at rest that a pose has moved to (x, y); null between the lips. */
export function atRest(pose: MouthPose, x: number, y: number): { x: number; y: number } | null {
  const away = Math.max(Math.abs(x) - pose.halfWidth, 0) / 0.34;
  const beside = Math.max(0, 1 - away) ** 2 * ramp(0.62, 0.85, y) * ramp(1.55, 1.3, y);
  const squeeze = mix(1, MOUTH_HALF_WIDTH / pose.halfWidth, 1);
  const narrow =
    Math.abs(x) <= pose.halfWidth
      ? x * squeeze
      : Math.sign(x) * (MOUTH_HALF_WIDTH + (Math.abs(x) - pose.halfWidth));
  const restX = mix(x, narrow, beside);
  const line = mouthLine(restX);
  const t = clamp(Math.abs(restX) / MOUTH_HALF_WIDTH);
  const lower = line + pose.drop * opened(t);
  const upper = line - pose.lift * opened(t);
  if (y > upper && y < lower) return null;
  const full = (depth: number): number => mix(pose.fullness, 1, ramp(0.1, 0.34, depth));
  if (y <= Math.min(upper, lower)) {
    const depth = upper - y;
    const shift = pose.lift * opened(t) * ramp(0.36, 0, depth);
    return { x: restX, y: Math.min(line, line - (line - (y + shift)) / full(depth)) };
  }
  const depth = y - lower;
  const chin = pose.jaw * ramp(1.05, 0.55, Math.abs(restX));
  const shift = mix(pose.drop * opened(t), chin, ramp(0.02, 0.4, depth));
  return { x: restX, y: Math.max(line, line + (y - shift - line) / full(depth)) };
}
