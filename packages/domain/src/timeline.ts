import { type SyncMode } from '@lipsync/contract';
import { type Clock, endOf, frameAtTick, framesOf, usualStep } from './clock';

/** What an output shows and when, and what happens to its sound. */
export interface Timeline {
  /** The source frame that each output frame shows. */
  readonly sources: readonly number[];
  /** When the output frames are on screen, in ticks of the source's clock. */
  readonly clock: Clock;
  readonly sound: SoundPlan;
}

/** What happens to the audio when it is muxed. Without either field it is copied whole. */
interface SoundPlan {
  readonly trimSeconds?: number;
  readonly padToSeconds?: number;
}

/** A picture that is on screen for longer is shown as several frames. So no frame lasts longer. */
export const LONGEST_FRAME_SECONDS = 0.1;

/** Absorbs the rounding error of a duration that is a whole number of frames (8.64 s × 25), in frames. */
const EPSILON_FRAMES = 1e-6;

/**
 * The output of a sync mode for a source with this clock (of one frame or more) and this much audio. Frames keep their
 * own time on screen:
 *
 * - cut_off ends with the shorter of the two;
 * - silence plays the video once, then holds its last frame while there is audio;
 * - loop restarts, and bounce reverses at each end without showing the end frames twice, until the audio ends;
 * - remap spreads the whole video evenly over the audio, at the source's usual rate.
 *
 * A last frame that the audio does not fill is dropped, so that the output is never longer than the longer input; an
 * input shorter than one frame still gives one frame. Lengths that differ by at most one frame count as equal: then every
 * mode gives the plain video with the plain audio. Otherwise only cut_off ever trims the audio, and only silence ever pads
 * it; in the other modes the output has the length of the audio, and its last partial frame of sound is kept.
 */
export function timelineOf(mode: SyncMode, source: Clock, audioSeconds: number): Timeline {
  const { timescale, ticks } = source;
  const frames = framesOf(source);
  const step = usualStep(source);
  const end = ticks[frames] ?? 0;
  const audioTicks = audioSeconds * timescale + EPSILON_FRAMES * step;
  if (Math.abs(audioTicks - end) <= step * (1 + 2 * EPSILON_FRAMES)) {
    return { sources: Array.from({ length: frames }, (_, frame) => frame), clock: source, sound: {} };
  }
  if (mode === 'remap') return remapped(source, step, audioTicks);
  const isPlainLength = mode === 'silence' && end > audioTicks;
  const until = isPlainLength || (mode === 'cut_off' && end < audioTicks) ? end : audioTicks;
  const sources: number[] = [];
  const times = [0];
  for (let at = 0; at < until || sources.length === 0;) {
    const { frame, lasts } = shown(mode, sources.length, source, step);
    at += lasts;
    if (at > until && sources.length > 0) break;
    sources.push(frame);
    times.push(at);
  }
  const clock = { timescale, ticks: Uint32Array.from(times) };
  return { sources, clock, sound: soundPlan(mode, source, audioTicks) };
}

/** The source frame shown by an output frame, and for how many ticks. */
function shown(
  mode: Exclude<SyncMode, 'remap'>,
  index: number,
  { ticks }: Clock,
  step: number,
): { frame: number; lasts: number } {
  const last = ticks.length - 2;
  const frame = sourceFrame(mode, index, last);
  const isHeld = index > last && mode === 'silence';
  return { frame, lasts: isHeld ? step : (ticks[frame + 1] ?? 0) - (ticks[frame] ?? 0) };
}

function sourceFrame(mode: Exclude<SyncMode, 'remap'>, index: number, last: number): number {
  switch (mode) {
    case 'cut_off':
    case 'silence':
      return Math.min(index, last);
    case 'loop':
      return index % (last + 1);
    case 'bounce': {
      if (last === 0) return 0;
      const phase = index % (2 * last);
      return phase <= last ? phase : 2 * last - phase;
    }
  }
}

function remapped(source: Clock, step: number, audioTicks: number): Timeline {
  const end = source.ticks[framesOf(source)] ?? 0;
  const frames = Math.max(1, Math.floor(audioTicks / step));
  return {
    // The source frame that is on screen in the middle of the output frame.
    sources: Array.from({ length: frames }, (_, index) =>
      frameAtTick(source, Math.floor(((2 * index + 1) * end) / (2 * frames))),
    ),
    clock: {
      timescale: source.timescale,
      ticks: Uint32Array.from({ length: frames + 1 }, (_, index) => index * step),
    },
    sound: {},
  };
}

function soundPlan(mode: SyncMode, source: Clock, audioTicks: number): SoundPlan {
  const seconds = endOf(source);
  const isLonger = audioTicks > seconds * source.timescale;
  if (mode === 'cut_off' && isLonger) return { trimSeconds: seconds };
  if (mode === 'silence' && !isLonger) return { padToSeconds: seconds };
  return {};
}

/**
 * How many seconds, from the start of a video, the timeline can depend on: any longer video gives the same output.
 * Infinity where the mode shows the whole video. Otherwise more than two frames beyond the audio, so that the unused rest
 * of the video cannot make the lengths count as equal.
 */
export function usedVideoSeconds(mode: SyncMode, audioSeconds: number): number {
  switch (mode) {
    case 'cut_off':
    case 'loop':
    case 'bounce':
      return audioSeconds + 2.5 * LONGEST_FRAME_SECONDS;
    case 'silence':
    case 'remap':
      return Infinity;
  }
}
