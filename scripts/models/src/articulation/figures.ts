import { mean, quantile } from '@lipsync/local-stack';
import { type MouthReading } from './mouth-readings';
import { type Gesture, gestureOf, jawCourse } from './phonemes';
import { type Sound } from './speech';

/** What is shown so many seconds before or after a sound is seen with it: a frame of 25 a second. */
const NEAR = 0.04;

export const middleOf = ({ from, to }: MouthReading): number => (from + to) / 2;

export type Readings = readonly (MouthReading | null)[];

/** A rendered mouth, the voice that it speaks, and the source's own mouth in each frame of the same timeline. */
export interface SpokenClip {
  readonly sounds: readonly Sound[];
  readonly mouth: Readings;
  readonly source: Readings;
}

/** Lips count as closed up to this share of the way from this face's closed reading to its open one. */
const CLOSED_SHARE = 0.15;
/** Landmarks read a shut mouth differently from face to face; this is their noise within one, in eye distances. */
const READING_NOISE = 0.004;

/** What closed and open mean on this face, in eye distances. */
interface Scale {
  /** The landmarks' reading of lips that touch: the least of source and render, as a source may never close them. */
  readonly closed: number;
  /** The opening that is exceeded in a twentieth of the speech. */
  readonly open: number;
  /** Readings up to this one are closed lips. */
  readonly closedUpTo: number;
}

export function scaleOf({ sounds, mouth, source }: SpokenClip): Scale {
  const closed = Math.min(quantile(openings(mouth), 0.05), quantile(openings(source), 0.05));
  const open = quantile(openings(speaking(mouth, sounds)), 0.95);
  return { closed, open, closedUpTo: closed + Math.max(READING_NOISE, CLOSED_SHARE * (open - closed)) };
}

/** How many of the cases there are, and in how many the mouth did it. */
export interface Count {
  readonly cases: number;
  readonly done: number;
}

/** How many m, b and p are closed in any frame that is shown with the sound, or up to NEAR before or after it. */
export function closures({ sounds, mouth }: SpokenClip, { closedUpTo }: Scale): Count {
  const openingsAt = withGesture(sounds, 'closure').map(({ start, end }) =>
    openings(shownWith(mouth, start - NEAR, end + NEAR)),
  );
  const seen = openingsAt.filter((values) => values.length > 0);
  return { cases: seen.length, done: seen.filter((values) => Math.min(...values) <= closedUpTo).length };
}

/** How many m, b and p show lips that touch in any such frame, of those in which it can be seen. */
export function touches({ sounds, mouth }: SpokenClip, contacts: readonly (boolean | null)[]): Count {
  const seen = withGesture(sounds, 'closure').flatMap(({ start, end }) => {
    const shown = new Set(shownWith(mouth, start - NEAR, end + NEAR));
    const during = contacts.filter((contact, i) => {
      const reading = mouth[i];
      return contact !== null && reading && shown.has(reading);
    });
    return during.length === 0 ? [] : [during.includes(true)];
  });
  return { cases: seen.length, done: seen.filter(Boolean).length };
}

/**
 * How many vowels and open consonants are closed in their middle, where no closure is as near as 60 ms: two frames
 * of 25 a second cannot show more than that.
 */
export function falseClosures(clip: SpokenClip, { closedUpTo }: Scale): Count {
  const seen = middlesAwayFrom(clip, 'closure', ['i', 'u', 'a', 'open']);
  return { cases: seen.length, done: seen.filter(({ opening }) => opening <= closedUpTo).length };
}

/** The sounds by which vowels are told apart: a glide is as round as its vowel. */
const VOWELS = { i: ['i'], u: ['u', 'w'], a: ['a'] } as const satisfies Record<string, readonly Gesture[]>;
export type Vowel = keyof typeof VOWELS;

/** How many sounds each vowel is judged by. */
export const vowelsOf = ({ sounds }: SpokenClip): Record<Vowel, number> => ({
  i: withGesture(sounds, ...VOWELS.i).length,
  u: withGesture(sounds, ...VOWELS.u).length,
  a: withGesture(sounds, ...VOWELS.a).length,
});

/** The mean of a length over all frames that a vowel is shown with. */
export function meanDuring(
  { sounds, mouth }: SpokenClip,
  vowel: Vowel,
  length: (reading: MouthReading) => number,
): number {
  const during = withGesture(sounds, ...VOWELS[vowel]).flatMap(({ start, end }) =>
    shownWith(mouth, start, end),
  );
  return mean(during.map(length));
}

/** How much higher a lower lip that touches the teeth is than at the same opening elsewhere: twice the noise and more. */
const RAISED = 0.01;

/**
 * How many f and v put the lower lip to the upper teeth: in a frame of the sound, or up to NEAR before or after it, the gap
 * is less than half of the open one, and the lower lip higher than the jaw alone puts it, which is what the rest of the
 * speech tells of its height at this gap. A mouth that only opens and closes does not, nor do lips that are shut.
 */
export function dentals(clip: SpokenClip, scale: Scale): Count {
  const isDental = dentalPosture(clip, scale);
  const cases = duringDentals(clip).filter((readings) => readings.length > 0);
  return { cases: cases.length, done: cases.filter((readings) => readings.some(isDental)).length };
}

/** How many vowels look like f and v in their middle, 60 ms or more from any. */
export function falseDentals(clip: SpokenClip, scale: Scale): Count {
  const seen = middlesAwayFrom(clip, 'dental', ['i', 'u', 'a']);
  return { cases: seen.length, done: seen.filter(dentalPosture(clip, scale)).length };
}

const duringDentals = ({ sounds, mouth }: SpokenClip): MouthReading[][] =>
  withGesture(sounds, 'dental').map(({ start, end }) => shownWith(mouth, start - NEAR, end + NEAR));

function dentalPosture(clip: SpokenClip, { closed, open }: Scale): (reading: MouthReading) => boolean {
  const during = new Set(duringDentals(clip).flat());
  const rest = found(speaking(clip.mouth, clip.sounds)).filter((reading) => !during.has(reading));
  const heightAt = regression(
    rest.map(({ opening }) => opening),
    rest.map(({ lowerLip }) => lowerLip),
  );
  return ({ lowerLip, opening }) => opening < (closed + open) / 2 && lowerLip < heightAt(opening) - RAISED;
}

/** What is seen in the middle of sounds with some gestures, 60 ms or more from any with another. */
function middlesAwayFrom(
  { sounds, mouth }: SpokenClip,
  other: Gesture,
  gestures: readonly Gesture[],
): MouthReading[] {
  const others = withGesture(sounds, other);
  const middles = withGesture(sounds, ...gestures)
    .map(({ start, end }) => (start + end) / 2)
    .filter((at) => others.every(({ start, end }) => at < start - 1.5 * NEAR || at > end + 1.5 * NEAR));
  return middles.flatMap((at) => found(mouth).find(({ from, to }) => at >= from && at < to) ?? []);
}

/** Seconds either way in which a lead is looked for. */
const LEAD_RANGE = 0.24;
const LEAD_STEP = 0.005;
/** Below this a best shift says nothing: unrelated series have one, too. */
const LEAST_FOR_A_LEAD = 0.3;

/** Seconds by which the mouth is ahead of the jaw that the sounds demand; null if it does not follow it. */
export function leadOf({ sounds, mouth }: SpokenClip): number | null {
  const jaw = jawCourse(sounds);
  const steps = Math.round(LEAD_RANGE / LEAD_STEP);
  const readings = found(mouth);
  let best = { lead: 0, correlation: -1 };
  for (let step = -steps; step <= steps; step++) {
    const lead = step * LEAD_STEP;
    const correlation = pearson(
      readings.map(({ opening }) => opening),
      readings.map((reading) => jaw(middleOf(reading) + lead)),
    );
    if (correlation > best.correlation) best = { lead, correlation };
  }
  return best.correlation < LEAST_FOR_A_LEAD ? null : best.lead;
}

/** Seconds between a sound and what counts as silence: lips open before the voice, and close after it. */
const NEAR_SOUND = 0.2;

/** The readings while somebody speaks, the others null. */
export function speaking(readings: Readings, sounds: readonly Sound[]): Readings {
  return readings.map((reading) => (reading && isNear(sounds, middleOf(reading), NEAR / 2) ? reading : null));
}

/** The readings while it has been quiet for a while and stays so, the others null. */
export function silent(readings: Readings, sounds: readonly Sound[]): Readings {
  return readings.map((reading) =>
    reading && isNear(sounds, middleOf(reading), NEAR_SOUND) ? null : reading,
  );
}

const isNear = (sounds: readonly Sound[], at: number, reach: number): boolean =>
  sounds.some(({ start, end }) => at >= start - reach && at <= end + reach);

const withGesture = (sounds: readonly Sound[], ...gestures: readonly Gesture[]): Sound[] =>
  sounds.filter((sound) => gestures.some((gesture) => gestureOf(sound) === gesture));

/** The frames that are on the screen at some time between two. */
const shownWith = (readings: Readings, start: number, end: number): MouthReading[] =>
  found(readings).filter(({ from, to }) => to > start && from < end);

export const found = (readings: Readings): MouthReading[] => readings.filter((reading) => reading !== null);
export const openings = (readings: Readings): number[] => found(readings).map(({ opening }) => opening);

export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

/** The straight line through pairs of values that misses them least. */
function regression(x: readonly number[], y: readonly number[]): (x: number) => number {
  const [meanX, meanY] = [mean(x), mean(y)];
  const deviations = x.map((value) => value - meanX);
  const slope =
    dot(
      deviations,
      y.map((value) => value - meanY),
    ) / Math.max(dot(deviations, deviations), Number.MIN_VALUE);
  return (value) => meanY + slope * (value - meanX);
}

function pearson(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  const [x, y] = [a.map((value) => value - meanA), b.map((value) => value - meanB)];
  const scale = Math.sqrt(dot(x, x) * dot(y, y));
  return scale === 0 ? 0 : dot(x, y) / scale;
}
