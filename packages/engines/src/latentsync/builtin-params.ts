import { type ScheduleParams } from '../diffusion/schedule-params';
import { type LatentsyncParams } from './latentsync-params';

/** Side of the aligned face, pixels; frames per window. */
export const RESOLUTION = 256;
export const WINDOW = 16;
export const GUIDANCE = 1.5;
export const SEED = 1247;

/**
 * The schedule of the official weights (bytedance/LatentSync, configs/scheduler_config.json), except for the number of
 * steps.
 */
export const SCHEDULE: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'scaled_linear',
  prediction: 'epsilon',
  spacing: 'leading',
  stepsOffset: 1,
  finalAlpha: 'first',
  zeroTerminalSnr: false,
  steps: 4,
};

/** Lower edges of the face as [row, first column, last column]. The outline runs straight between them. */
const OUTLINE = [
  [128, 9, 247],
  [134, 9, 247],
  [135, 10, 246],
  [170, 12, 243],
  [176, 16, 240],
  [184, 20, 235],
  [192, 26, 230],
  [200, 33, 223],
  [208, 40, 216],
  [216, 51, 207],
  [224, 64, 196],
  [232, 80, 180],
  [240, 104, 160],
  [242, 131, 152],
] as const;

/** Both cheeks are generated. The nose between them stays. */
const CHEEKS = { top: 95, bottom: 127, left: [9, 77], right: [178, 246] } as const;

/** The generated part of an aligned face of 256 pixels, like bytedance/LatentSync's mask. */
export function faceMask(): LatentsyncParams['mask'] {
  const spans: [number, number, number][] = [];
  for (let row = CHEEKS.top; row <= CHEEKS.bottom; row++) {
    spans.push([row, ...CHEEKS.left], [row, ...CHEEKS.right]);
  }
  OUTLINE.forEach(([row, first, last], i) => {
    const [nextRow, nextFirst, nextLast] = OUTLINE[i + 1] ?? [row + 1, first, last];
    for (let at = row; at < nextRow; at++) {
      const between = (from: number, to: number): number =>
        Math.round(from + ((to - from) * (at - row)) / (nextRow - row));
      spans.push([at, between(first, nextFirst), between(last, nextLast)]);
    }
  });
  return { size: 256, spans };
}
