import { type Clock, usualRate, usualStep } from '@lipsync/domain';
import { type VideoStream } from '../probe/stream-info';

/** Whether every frame lasts equally long. */
export function isConstant(clock: Clock): boolean {
  const step = usualStep(clock);
  return clock.ticks.every((tick, frame) => tick === frame * step);
}

/** The whole numbers of frames a second that timecode counts (SMPTE ST 12-1, and ST 12-3 for the higher ones). */
const COUNTED = new Set([24, 25, 30, 48, 50, 60]);
/** Television's rates are 1000/1001 of these. */
const SLOWED = 1000 / 1001;
const ROUNDING = 1e-6;

/** Hours, minutes, seconds and frame, the last after another mark than ":" where numbers of frames are dropped. */
const TIMECODE = /^(\d\d:[0-5]\d:[0-5]\d)([:;.])(\d\d)$/;

/**
 * Timecode of the first frame of an output that begins with a video's first picture; undefined where the video has none
 * or the output's clock is not one that timecode counts. Fields become frames, so numbers of frames may double.
 */
export function timecodeOf(
  { timecode = '', rate }: Pick<VideoStream, 'timecode' | 'rate'>,
  clock: Clock,
): string | undefined {
  const [, time, mark, frame] = TIMECODE.exec(timecode) ?? [];
  const fps = usualRate(clock);
  const counted = Math.round(fps);
  const isSlowed = Math.abs(fps - counted * SLOWED) < ROUNDING;
  if (time === undefined || !isConstant(clock) || !COUNTED.has(counted)) return undefined;
  if (!isSlowed && Math.abs(fps - counted) > ROUNDING) return undefined;
  const isDropping = mark !== ':';
  if (isDropping && !(isSlowed && counted % 30 === 0)) return undefined;
  const inSource = rate === null ? counted : Math.round(rate.num / rate.den);
  const here = Math.floor((Number(frame) * counted) / inSource);
  if (here >= counted) return undefined;
  return `${time}${isDropping ? ';' : ':'}${String(here).padStart(2, '0')}`;
}
