import { median } from '@lipsync/local-stack';
import { type FaceSamples } from './face-samples';

/** Landmarks in the middle of the mouth: the upper lip's edges outside and inside, the lower lip's inside and outside. */
const [TOP, INNER_TOP, INNER_BOTTOM, BOTTOM] = [51, 62, 66, 57];
const [LEFT_CORNER, RIGHT_CORNER] = [48, 54];
/** The middle of the mouth, of its width, and the lines that are drawn down it. */
const MIDDLE = 0.3;
const LINES = 7;
/** Between two readings down a line, and how far from the landmarks lips may end: eye distances. */
const STEP = 0.01;
const REACH = 0.03;
/** Lips that are less redder than the skin around them cannot be told from teeth: levels. */
export const COLORED = 4;
/**
 * Paler than the lips by this share of what they are redder than skin, and brighter than this share of them: a tooth, if
 * it stands out. Above and below it, within so many readings, it is darker by this share of the lips: there are shades
 * and gaps. The inside of a lip, pale as it may be, goes over into the lip.
 */
const PALE = 0.25;
const BRIGHT = 0.7;
const STANDS_OUT = { readings: 6, by: 0.06 };
/** A gap is darker than this share of the lips; the line between lips that touch is, too, but it is thin. */
const DARK = 0.6;
/** How much of either makes a mouth open: depth times height in eye distances. */
const OPEN_BY_TEETH = 0.006;
const OPEN_BY_DARKNESS = 0.012;

/**
 * Whether lips touch in the middle of the mouth: between the reddest places of the upper and the lower lip lies neither
 * a pale band, which is teeth, nor a deep dark one. Needs no other frame of this face, so it can tell of faces that
 * never shut their mouths. Null where lips have not enough color to be told from teeth.
 */
export function lipsTouch(face: FaceSamples): boolean | null {
  const bands = linesDown(face).map((along) => bandsBetweenLips(face, along));
  if (median(bands.map(({ color }) => color)) < COLORED) return null;
  return (
    median(bands.map(({ teeth }) => teeth)) <= OPEN_BY_TEETH &&
    median(bands.map(({ darkness }) => darkness)) <= OPEN_BY_DARKNESS
  );
}

function linesDown({ placeOf }: FaceSamples): number[] {
  const middle = (placeOf(TOP).along + placeOf(BOTTOM).along) / 2;
  const width = placeOf(RIGHT_CORNER).along - placeOf(LEFT_CORNER).along;
  return Array.from({ length: LINES }, (_, i) => middle + MIDDLE * width * (i / (LINES - 1) - 0.5));
}

function bandsBetweenLips({ placeOf, redness, brightness }: FaceSamples, along: number) {
  const [top, bottom] = [placeOf(TOP).down, placeOf(BOTTOM).down];
  const middle = (placeOf(INNER_TOP).down + placeOf(INNER_BOTTOM).down) / 2;
  const skin = median(
    [top - 0.08, top - 0.06, bottom + 0.06, bottom + 0.08].map((down) => redness({ along, down })),
  );
  const count = Math.floor((bottom - top + 2 * REACH) / STEP) + 1;
  const line = Array.from({ length: count }, (_, i) => {
    const place = { along, down: top - REACH + i * STEP };
    return { down: place.down, redness: redness(place), brightness: brightness(place) };
  });
  const upper = reddest(line.filter(({ down }) => down <= middle));
  const lower = reddest(line.filter(({ down }) => down > middle));
  if (upper === undefined || lower === undefined) return { color: 0, teeth: 0, darkness: 0 };
  const color = Math.min(upper.redness, lower.redness) - skin;
  const lips = Math.max(8, Math.min(upper.brightness, lower.brightness));
  const between = line.filter(({ down }) => down >= upper.down && down <= lower.down);
  let [teeth, darkness] = [0, 0];
  for (const [i, reading] of between.entries()) {
    const way = (reading.down - upper.down) / (lower.down - upper.down);
    const expected = upper.redness + way * (lower.redness - upper.redness);
    const paleness = (expected - reading.redness) / Math.max(COLORED, color) - PALE;
    const bright = reading.brightness / lips;
    const darkestOf = (near: typeof between): number =>
      Math.min(...near.map(({ brightness: level }) => level)) / lips;
    const above = darkestOf(between.slice(Math.max(0, i - STANDS_OUT.readings), i + 1));
    const below = darkestOf(between.slice(i, i + 1 + STANDS_OUT.readings));
    if (bright > BRIGHT && bright - Math.max(above, below) >= STANDS_OUT.by)
      teeth += STEP * Math.min(1, Math.max(0, paleness));
    darkness += STEP * Math.max(0, DARK - bright);
  }
  return { color, teeth, darkness };
}

const reddest = <T extends { readonly redness: number }>(line: readonly T[]): T | undefined =>
  [...line].sort((a, b) => b.redness - a.redness)[0];
