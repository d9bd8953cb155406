import { type SyncMode } from '@lipsync/client';
import { type Clock, constantClock, endOf, exactRate, frameAt } from '@lipsync/domain/clock';
import { timelineOf } from '@lipsync/domain/timeline';

/** Which part of the source is beside which part of the output. */
export interface SourceTimeline {
  readonly mode: SyncMode;
  readonly source: Clock;
  readonly output: Clock;
  /** The source frame beside each output frame, as the service has mapped them. */
  readonly sources: readonly number[];
}

/** Where the source is at a moment of the output, and how fast it moves there. */
export interface SourcePosition {
  readonly frame: number;
  /** Seconds of source per second of output: 1 as filmed, 0 held, negative backward. */
  readonly rate: number;
}

/** For a result whose frames the service has not counted. */
const LIKELY_FPS = 30;

/** The clock of this many frames in this many seconds. Where the rate varied, it is the mean. */
export function clockOf(seconds: number, frames = Math.max(1, Math.round(seconds * LIKELY_FPS))): Clock {
  return constantClock(exactRate(frames / seconds), frames);
}

/** A source of this length beside an output with this clock, which has the source's rate, and this much voice. */
export function sourceTimeline(
  mode: SyncMode,
  output: Clock,
  { videoSeconds, voiceSeconds }: { readonly videoSeconds: number; readonly voiceSeconds: number },
): SourceTimeline {
  const { timescale, ticks } = output;
  const rate = { num: timescale, den: ticks[1] ?? timescale };
  const source = constantClock(rate, Math.max(1, Math.round((videoSeconds * rate.num) / rate.den)));
  return { mode, source, output, sources: timelineOf(mode, source, voiceSeconds).sources };
}

/** Browsers round times down to a microsecond, or a little more. */
const ROUNDED_SECONDS = 0.001;

/** The frame that is on screen when a video says that it is at `seconds`. */
export function frameShown(clock: Clock, seconds: number): number {
  return frameAt(clock, seconds + ROUNDED_SECONDS);
}

export function sourcePosition(
  { mode, source, output, sources }: SourceTimeline,
  index: number,
): SourcePosition {
  const at = (i: number): number => sources[Math.min(i, sources.length - 1)] ?? 0;
  const frame = at(index);
  if (mode === 'remap') return { frame, rate: endOf(source) / endOf(output) };
  // What is beyond the output goes on as its end does.
  const next = index + 1 < sources.length ? at(index + 1) - frame : frame - at(index - 1);
  // loop jumps back to the start: until then the last frame moves on as filmed.
  return { frame, rate: mode === 'loop' && next < 0 ? 1 : next };
}
