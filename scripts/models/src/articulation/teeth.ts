import { mean } from '@lipsync/local-stack';
import { type FacePlace, type FaceSamples } from './face-samples';

/** The inner edges of the upper and the lower lip beside and in the middle. */
const INNER_TOP = [61, 62, 63] as const;
const INNER_BOTTOM = [65, 66, 67] as const;
/** Where teeth are looked for, on either side of the middle, and a mouth that is not open by so much shows none. */
const SIDE = 0.16;
const LEAST_GAP = 0.05;
/** Landmarks tremble: the frames are laid upon each other as they fit best within so much. Eye distances. */
const TREMBLE = 0.03;
const STEP = 0.015;

/**
 * How unlike what two neighboring frames show between the lips is, in levels of brightness, after the head's motion is
 * taken off: upper teeth belong to the skull. Null where one of them is not open.
 */
export function teethChange(before: FaceSamples, now: FaceSamples): number | null {
  const [a, b] = [gapOf(before), gapOf(now)];
  const [top, bottom] = [Math.max(a.top, b.top), Math.min(a.bottom, b.bottom)];
  if (bottom - top < LEAST_GAP) return null;
  const places: FacePlace[] = [];
  for (let down = top + STEP; down <= bottom - STEP; down += STEP)
    for (let along = -SIDE; along <= SIDE; along += STEP) places.push({ along: a.along + along, down });
  const was = places.map(before.brightness);
  let least = Infinity;
  for (let y = -TREMBLE; y <= TREMBLE; y += STEP)
    for (let x = -TREMBLE; x <= TREMBLE; x += STEP) {
      const change = places.reduce(
        (sum, { along, down }, i) =>
          sum + Math.abs(now.brightness({ along: along + x, down: down + y }) - (was[i] ?? 0)),
        0,
      );
      least = Math.min(least, change / places.length);
    }
  return least;
}

function gapOf({ placeOf }: FaceSamples): { along: number; top: number; bottom: number } {
  const [top, bottom] = [INNER_TOP.map(placeOf), INNER_BOTTOM.map(placeOf)];
  return {
    along: mean(top.map(({ along }) => along)),
    top: mean(top.map(({ down }) => down)),
    bottom: mean(bottom.map(({ down }) => down)),
  };
}
