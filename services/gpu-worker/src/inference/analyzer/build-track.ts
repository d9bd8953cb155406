import { type Clock, frameAt, framesOf, LONGEST_FRAME_SECONDS, secondsAt } from '@lipsync/domain';
import {
  type Covers,
  FACE_TRACK_VERSION,
  faceRuns,
  type FaceTrack,
  groupLooks,
  LANDMARK_VALUES,
  landmarkCenter,
  LEFT_EYE,
  type LookColors,
  MOUTH,
  RIGHT_EYE,
  smoothingReach,
  smoothRun,
  TRACK_REACH,
} from '@lipsync/engines';
import { COVER_REACH } from './cover-finder';
import { hideCovered, SHORTEST_FREE } from './covered-mouths';
import { landmarkBounds } from './face-geometry';

/**
 * The longest gap, in seconds, that is filled: five missing frames of 25 a second. A face hidden for longer (by a hand or
 * a turned head) is not guessed.
 */
export const LONGEST_GAP = 0.2;

/**
 * So many seconds after one picture the networks look at the next one, at most 30 a second and a little more. Between two
 * looks at 30 a second a face moves along a straight line, as far as its landmarks can tell. They look earlier where it
 * does not: where an editor removed a part of the shot, it jumps.
 */
export const LOOK_EVERY = 0.03;

/** Smoothing, in seconds, of all landmarks except the mouth's, which are used to measure lip motion. */
const LANDMARK_SIGMA = 0.06;

/**
 * The frames of how many seconds after a frame can affect the data derived for it: the reach of engines in the track, plus
 * the reach of the landmarks' smoothing, plus the shortest time for which a mouth is free, which a cover may end there or
 * a lost face, plus what tells of a cover that it is one, or of a face that it is lost: the longest gap, which begins with
 * a look.
 */
export const LOOK_AHEAD =
  TRACK_REACH +
  smoothingReach(LANDMARK_SIGMA) +
  SHORTEST_FREE +
  Math.max(COVER_REACH, LOOK_EVERY + LONGEST_GAP);

/** Absorbs what floating point takes from a difference between the times of two frames. */
const ROUNDING = 1e-9;

/**
 * How many seconds of a clip have to be analyzed for its first `seconds` to be settled: the frame on screen at their end
 * may appear well before it.
 */
export function secondsToSettle(seconds: number): number {
  return seconds + LOOK_AHEAD + LONGEST_FRAME_SECONDS;
}

/**
 * How many of these first frames of a clip have rows that no later frame can affect, however the clip goes on. `ahead`:
 * seconds after a frame that decide whose face it shows.
 */
export function settledFrames(clock: Clock, ahead = 0): number {
  const until = secondsAt(clock, framesOf(clock) - 1) - LOOK_AHEAD - ahead + ROUNDING;
  return until < 0 ? 0 : frameAt(clock, until) + 1;
}

/** Frames as the analysis knows them. */
export interface AnalyzedFrames {
  /** When they are on screen. */
  readonly clock: Clock;
  /** Per frame, whether it shows the picture of the frame before. */
  readonly held: readonly boolean[];
  /** Per frame, whether a new shot begins. */
  readonly cuts: boolean[];
}

/** The faces that go into a track. */
export interface TrackFaces {
  /** Per frame 136 landmark values in pixels of the source picture, or null. */
  readonly faces: readonly (Float32Array | null)[];
  /** Per frame: the colors of its face, or null where none was seen. */
  readonly colors: readonly (LookColors | null)[];
  /** What lies before the faces. */
  readonly covers: Covers;
  /** Per frame, whether something covers the mouth. */
  readonly covered: readonly boolean[];
  /** Per frame, whether a new shot begins, the face jumps, or another face is followed from here on. */
  readonly cuts: readonly boolean[];
  /** Per frame, whether another face of the same shot has the turn from here on. */
  readonly turns: readonly boolean[];
  /** Whether the faces of two frames are known to be those of two people. */
  readonly areApart: (frame: number, other: number) => boolean;
}

interface TrackInput extends Omit<AnalyzedFrames, 'cuts'>, TrackFaces {
  readonly analyzerVersion: string;
  /** Size of the source picture. */
  readonly source: { readonly width: number; readonly height: number };
}

/** Smooths the measured landmarks and lays them out as a face track. */
export function buildTrack({
  analyzerVersion,
  source,
  faces,
  clock,
  held,
  cuts,
  colors,
  covers,
  covered,
  turns,
  areApart,
}: TrackInput): FaceTrack {
  const frames = faces.length;
  const flags = { cuts: Uint8Array.from(cuts, Number), held: Uint8Array.from(held, Number) };
  const { hidden, shown } = hideCovered(
    faces.map((face, frame) => covered[frame] === true || face === null || isCutOff(face, source)),
    flags.cuts,
    turns,
    clock,
  );
  const found = new Uint8Array(frames);
  const landmarks = new Float32Array(frames * LANDMARK_VALUES);
  faces.forEach((face, frame) => {
    if (face === null || hidden[frame] === true) return;
    found[frame] = 1;
    landmarks.set(face, frame * LANDMARK_VALUES);
  });
  for (const run of faceRuns(found, flags.cuts)) {
    const channels = { first: 0, last: MOUTH[0] * 2 };
    smoothRun(landmarks, LANDMARK_VALUES, run, channels, LANDMARK_SIGMA, { clock, ...flags });
  }
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion,
    frames,
    clock,
    ...source,
    found,
    landmarks,
    ...flags,
    shown,
    // Nobody asks what covers a frame that stays as filmed.
    covers: new Map([...covers].filter(([frame]) => found[frame] === 1)),
    ...groupLooks(
      { frames, clock, ...flags },
      colors.map((row, frame) => (hidden[frame] === true ? null : row)),
      areApart,
    ),
  };
}

/**
 * How near the picture's border a mouth may come, in distances of the eyes: landmarks of a face that leaves the picture
 * crowd at its border, and lips, cheek and chin need room to move in.
 */
const ROOM = { beside: 0.15, below: 0.1 };

/** Whether the picture's border cuts the mouth off, or nearly. */
function isCutOff(face: Float32Array, { width, height }: TrackInput['source']): boolean {
  const { x1, y1, x2, y2 } = landmarkBounds(face, ...MOUTH);
  const [left, right] = [landmarkCenter(face, LEFT_EYE), landmarkCenter(face, RIGHT_EYE)];
  const eyes = Math.hypot(right.x - left.x, right.y - left.y);
  const [beside, below] = [ROOM.beside * eyes, ROOM.below * eyes];
  return x1 < beside || x2 > width - beside || y1 < below || y2 > height - below;
}

/**
 * The most that a face moves or grows in a second, in its own sizes: four times what heads do in talks. An editor's zoom
 * by a seventh from one frame to the next exceeds this at 25 frames a second.
 */
const FASTEST_MOTION = 5;
const FASTEST_GROWTH = 3;
/** How many pixels apart landmarks may lie when nothing has moved. */
const UNCERTAINTY = 2;

/**
 * Marks as cuts, in place, the frames on which a face jumps. A jump occurs where an editor removed part of a shot or
 * zoomed in, which looks too similar for a cut detector, or where somebody else's face is followed from then on.
 * Nothing may be interpolated or smoothed across a jump: the mouths between would lie beside both faces.
 */
export function markJumps(faces: readonly (Float32Array | null)[], frames: AnalyzedFrames): void {
  const { clock, cuts } = frames;
  let last = -1;
  faces.forEach((face, frame) => {
    if (cuts[frame] === true) last = -1;
    if (face === null) return;
    const before = last < 0 ? null : faces[last];
    const seconds = secondsAt(clock, frame) - secondsAt(clock, last);
    // Nothing is connected across a longer gap anyway.
    if (before && isBridged(last, frame, frames) && isJump(place(before), place(face), seconds))
      cuts[frame] = true;
    last = frame;
  });
}

interface Place {
  readonly x: number;
  readonly y: number;
  /** Diagonal of the bounds. A turn or an opening mouth changes it less than it changes the sides. */
  readonly size: number;
}

function isJump(from: Place, to: Place, seconds: number): boolean {
  const size = Math.max(from.size, to.size);
  const uncertain = UNCERTAINTY / size;
  const step = Math.hypot(to.x - from.x, to.y - from.y) / size;
  const growth = Math.abs(Math.log(to.size / from.size));
  return step > FASTEST_MOTION * seconds + uncertain || growth > FASTEST_GROWTH * seconds + uncertain;
}

function place(face: Float32Array): Place {
  const { x1, y1, x2, y2 } = landmarkBounds(face);
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, size: Math.hypot(x2 - x1, y2 - y1) };
}

/**
 * Interpolates the landmarks of short gaps between two sightings in one shot, in place: a single missed frame would
 * show the original mouth for its time on screen.
 */
export function fillGaps(faces: (Float32Array | null)[], frames: AnalyzedFrames): void {
  const { clock, cuts } = frames;
  let last = -1;
  for (let frame = 0; frame < faces.length; frame++) {
    if (cuts[frame] === true) last = -1;
    const after = faces[frame];
    if (after === null || after === undefined) continue;
    const before = last >= 0 ? faces[last] : null;
    const start = secondsAt(clock, last);
    const seconds = secondsAt(clock, frame) - start;
    if (before && isBridged(last, frame, frames)) {
      for (let missing = last + 1; missing < frame; missing++) {
        faces[missing] = between(before, after, (secondsAt(clock, missing) - start) / seconds);
      }
    }
    last = frame;
  }
}

/** Whether the gap between two sightings is short: from the first picture without one to the next with one. */
function isBridged(from: number, to: number, { clock, held }: AnalyzedFrames): boolean {
  let first = from + 1;
  while (held[first] === true) first++;
  return secondsAt(clock, to) - secondsAt(clock, first) <= LONGEST_GAP + ROUNDING;
}

function between(before: Float32Array, after: Float32Array, part: number): Float32Array {
  return before.map((value, i) => value + part * ((after[i] ?? value) - value));
}
