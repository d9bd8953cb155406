import { type Clock, frameAt, framesOf } from '@lipsync/domain';
import { type Gesture, gestureOf } from './phonemes';
import { type Sound } from './speech';

/** A frame of an output, and what it is to show. */
interface Moment {
  readonly shows: string;
  readonly frame: number;
}

const GESTURES: readonly Gesture[] = ['closure', 'u', 'i', 'a', 'dental'];

/** The middle of the longest sound with each gesture that the voice has, and of its longest pause. */
export function tellingMoments(sounds: readonly Sound[], clock: Clock): Moment[] {
  const heard = GESTURES.flatMap((gesture) => {
    const sound = longest(sounds.filter((one) => gestureOf(one) === gesture));
    return sound === undefined ? [] : [{ shows: sound.ipa, at: middleOf(sound) }];
  });
  const pause = longest(
    sounds.slice(1).map(({ start }, i) => ({ start: sounds[i]?.end ?? start, end: start })),
  );
  if (pause !== undefined) heard.push({ shows: 'silence', at: middleOf(pause) });
  return heard.map(({ shows, at }) => ({ shows, frame: frameAt(clock, at) }));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const middleOf = ({ start, end }: Span): number => (start + end) / 2;
const longest = <T extends Span>(spans: readonly T[]): T | undefined =>
  [...spans].sort((a, b) => b.end - b.start - (a.end - a.start))[0];

const SPREAD = 6;

/** Moments of a voice of which nothing is known. */
export function spreadMoments(frames: number): Moment[] {
  return Array.from({ length: SPREAD }, (_, i) => ({
    shows: `moment ${i + 1}`,
    frame: Math.floor(((i + 0.5) * frames) / SPREAD),
  }));
}

export function framesInARow(fromSecond: number, count: number, clock: Clock): Moment[] {
  const frames = framesOf(clock);
  const first = frameAt(clock, fromSecond);
  if (!(fromSecond >= 0 && count >= 1 && first + count <= frames))
    throw new Error(`there are no ${count} frames from ${fromSecond} s: the output has ${frames}`);
  return Array.from({ length: count }, (_, i) => ({ shows: `frame ${i + 1}`, frame: first + i }));
}
