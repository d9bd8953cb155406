import { type Clock, middleOf } from '@lipsync/domain';
import { type FaceTrack } from './face/face-track';
import { type Run } from './face/smoothing';

/** What a network takes for neighboring frames. */
interface Stride {
  /** The fewest and the most frames per second. */
  readonly rates: readonly [fewest: number, most: number];
  /** Most faces that are generated in one batch. */
  readonly together: number;
}

/** A moment for which a network generates a face. */
export interface Instant {
  /** The output frame whose picture it is given. */
  readonly output: number;
  /** That frame's source frame. */
  readonly source: number;
  /** The middle of the sound that it hears, in seconds of the output. */
  readonly seconds: number;
  /** False for one that only lies between two frames, so that the network sees no larger step than it knows. */
  readonly shown: boolean;
}

/** Which faces are generated for an output, and what each of its frames shows of them. */
export interface Pace {
  readonly instants: readonly Instant[];
  /** The instants that may be generated together; all belong to one of these runs. */
  readonly runs: readonly Run[];
  /**
   * What each output frame shows: 3 is the face of instant 3, 3.25 a quarter of the way from there to that of instant 4;
   * −1 is no face.
   */
  readonly places: Float64Array;
}

/** By how much a step may be too short or too long: 23.976 frames per second count as 24, as do times that jitter. */
const TOLERANCE = 0.05;

/**
 * Chooses the instants for an output so that a network gets the steps in time that it was trained with. Where frames
 * follow at such steps, every one is an instant. Faster ones are instants only as often as the network allows, with the
 * frames between two of them showing both faces by the time that has passed. Between slower ones, further instants divide
 * the time evenly; they see the picture of the frame that follows. The first and the last frame of a run are always
 * instants.
 */
export function choosePace(
  { sources, clock }: { readonly sources: readonly number[]; readonly clock: Clock },
  /** The output frames whose faces may be generated together; the others show none. */
  outputRuns: readonly Run[],
  { rates: [fewest, most], together }: Stride,
): Pace {
  const shortest = 1 / most / (1 + TOLERANCE);
  const longest = (1 / fewest) * (1 + TOLERANCE);
  const instants: Instant[] = [];
  const places = new Float64Array(sources.length).fill(-1);
  const secondsOf = (output: number): number => middleOf(clock, output);

  const add = (output: number, seconds: number, shown: boolean): void => {
    if (shown) places[output] = instants.length;
    instants.push({ output, source: sources[output] ?? -1, seconds, shown });
  };
  /** The frame after `from` that is the next instant: the first that is far enough, unless that would be too far. */
  const nextAfter = (from: number, last: number): number => {
    let next = from + 1;
    while (next < last && secondsOf(next) - secondsOf(from) < shortest) next++;
    return next > from + 1 && secondsOf(next) - secondsOf(from) > longest ? next - 1 : next;
  };
  const step = (from: number, to: number): void => {
    const [start, span] = [secondsOf(from), secondsOf(to) - secondsOf(from)];
    for (let output = from + 1; output < to; output++)
      places[output] = instants.length - 1 + (secondsOf(output) - start) / span;
    const parts = Math.min(Math.ceil(span / longest), together);
    for (let part = 1; part < parts; part++) add(to, start + (span * part) / parts, false);
    add(to, secondsOf(to), true);
  };

  const runs = outputRuns.map(({ start, end }) => {
    const first = instants.length;
    add(start, secondsOf(start), true);
    for (let from = start; from < end - 1;) {
      const to = nextAfter(from, end - 1);
      step(from, to);
      from = to;
    }
    return { start: first, end: instants.length };
  });
  return { instants, runs, places };
}

/** The source frames whose faces are generated when a video plays once, from its start. */
export function generatedInPlayback(
  { frames, clock }: Pick<FaceTrack, 'frames' | 'clock'>,
  runsOf: (sources: readonly number[]) => readonly Run[],
  stride: Stride,
): ReadonlySet<number> {
  const sources = Array.from({ length: frames }, (_, frame) => frame);
  const { instants } = choosePace({ sources, clock }, runsOf(sources), stride);
  return new Set(instants.map(({ source }) => source));
}
