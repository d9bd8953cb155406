import { median } from '@lipsync/local-stack';
import { type FaceSamples } from './face-samples';
import { COLORED } from './lip-contact';

/** Landmarks: the corners of the mouth, and the middle of the upper and the lower lip outside. */
const [LEFT_CORNER, RIGHT_CORNER, TOP, BOTTOM] = [48, 54, 51, 57];
/** Between two readings, and how far lips may reach from the middle and from the line between the corners: eye distances. */
const STEP = 0.01;
const REACH = { along: 0.45, down: 0.14 };
/** Readings on either side of the middle that tell the lips' color, and how many down a line are lip where there is any. */
const MIDDLE = 8;
const THINNEST = 3;
/** Lips end where they have less of their color than this. */
const FADED = 0.4;

/**
 * The width of the lips by their color, in eye distances, wherever landmarks see the corners: of a change of the width
 * those show two fifths. Null where lips have not enough color to be told from skin.
 */
export function lipWidth({ placeOf, redness }: FaceSamples): number | null {
  const [left, right] = [placeOf(LEFT_CORNER), placeOf(RIGHT_CORNER)];
  const [top, bottom] = [placeOf(TOP), placeOf(BOTTOM)];
  const slope = (right.down - left.down) / (right.along - left.along);
  const center = (top.along + bottom.along) / 2;
  const half = Math.round(REACH.along / STEP);
  const lines = steps(half).map((along) => center + along);
  const skin = median(
    lines.flatMap((along) =>
      [top.down - 0.08, top.down - 0.06, bottom.down + 0.06, bottom.down + 0.08].map((down) =>
        redness({ along, down }),
      ),
    ),
  );
  const colors = lines.map((along) => {
    const corners = left.down + slope * (along - left.along);
    const line = steps(Math.round(REACH.down / STEP)).map((down) => redness({ along, down: corners + down }));
    return (line.sort((a, b) => b - a)[THINNEST - 1] ?? 0) - skin;
  });
  const color = median(colors.slice(half - MIDDLE, half + MIDDLE + 1));
  if (color < COLORED) return null;
  const isLip = (line: number): boolean => (colors[line] ?? 0) > FADED * color;
  let [first, last] = [half, half];
  while (isLip(first - 1)) first--;
  while (isLip(last + 1)) last++;
  return (last - first) * STEP;
}

const steps = (half: number): number[] => Array.from({ length: 2 * half + 1 }, (_, i) => (i - half) * STEP);
