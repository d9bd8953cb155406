import { frameAt, secondsAt } from '@lipsync/domain';
import { connectedRuns, type Cover, mouthOpening, type Run } from '@lipsync/engines';
import { type AnalyzedFrames, type TrackFaces } from './build-track';
import { landmarkBounds } from './face-geometry';
import { type FaceRows, type FaceStream } from './face-stream';
import { type Sound, soundSteps, STEPS_PER_SECOND } from './lip-evidence';
import { decideTurns, type FaceCourse } from './turns';

/** A face that was not seen for so many seconds has left its shot. */
const LONGEST_ABSENCE = 3;

/**
 * Puts the faces of all shots into one track: of every shot the face that has the turn, with the rows of its stream. Where
 * the turn changes, the track is cut, so that nothing connects the two faces. `streams` are in the order in which they
 * begin, the main face of a shot first.
 */
export function composeFaces(
  streams: readonly FaceStream[],
  { cuts: shotCuts, ...frames }: AnalyzedFrames,
  sound: Sound | null,
): TrackFaces {
  const faces: (Float32Array | null)[] = shotCuts.map(() => null);
  const colors: TrackFaces['colors'][number][] = shotCuts.map(() => null);
  const covers = new Map<number, Cover>();
  const covered = shotCuts.map(() => false);
  const cuts = [...shotCuts];
  const turns = shotCuts.map(() => false);
  /** Per frame its shot, and the number of its face in the shot. */
  const shots = shotCuts.map(() => 0);
  const chosen = shotCuts.map(() => 0);
  const seen: (Run | null)[] = shotCuts.map(() => null);
  for (const shot of connectedRuns(
    shotCuts.length,
    () => true,
    (frame) => shotCuts[frame] !== true,
  )) {
    const rows = streams
      .filter(({ start }) => shot.start <= start && start < shot.end)
      .map((stream) => stream.rows(shot.end, frames));
    const stretches = rows.map(seenFrames);
    const holders = rows.length > 1 ? turnsOf(rows, shot, frames, sound) : null;
    shots.fill(shot.start, shot.start, shot.end);
    for (let frame = shot.start; frame < shot.end; frame++) {
      const number = holders?.[frame - shot.start] ?? 0;
      const face = rows[number];
      if (face === undefined) continue;
      chosen[frame] = number;
      seen[frame] = stretches[number] ?? null;
      faces[frame] = face.faces[frame - face.start] ?? null;
      colors[frame] = face.colors[frame - face.start] ?? null;
      const cover = face.covers[frame - face.start];
      if (cover) covers.set(frame, cover);
      covered[frame] = face.covered[frame - face.start] === true;
      const isOther = frame > shot.start && chosen[frame - 1] !== number;
      turns[frame] = isOther;
      if (isOther || face.cuts[frame - face.start] === true) cuts[frame] = true;
    }
  }
  return {
    faces,
    colors,
    cuts,
    turns,
    covers,
    covered,
    // One person has another number after a longer absence, but is never seen beside their former self.
    areApart: (frame, other) =>
      shots[frame] === shots[other] &&
      chosen[frame] !== chosen[other] &&
      areConcurrent(seen[frame] ?? null, seen[other] ?? null),
  };
}

/** The frames from the first to the last sighting of a face; null if there is none. */
function seenFrames({ start, faces }: FaceRows): Run | null {
  const isSeen = (points: Float32Array | null): boolean => points !== null;
  const first = faces.findIndex(isSeen);
  return first < 0 ? null : { start: start + first, end: start + faces.findLastIndex(isSeen) + 1 };
}

const areConcurrent = (a: Run | null, b: Run | null): boolean =>
  a !== null && b !== null && a.start < b.end && b.start < a.end;

/** Which of a shot's faces has the turn in each of its frames. */
function turnsOf(
  rows: readonly FaceRows[],
  shot: Run,
  { clock }: Omit<AnalyzedFrames, 'cuts'>,
  sound: Sound | null,
): number[] {
  const start = secondsAt(clock, shot.start);
  const steps = Math.ceil((secondsAt(clock, shot.end) - start) * STEPS_PER_SECOND);
  const shown = Array.from({ length: steps }, (_, step) => frameAt(clock, start + step / STEPS_PER_SECOND));
  const courses = rows.map((face) => courseOf(face, shown));
  const turns = decideTurns(courses, sound && soundSteps(sound, start, steps));
  return Array.from({ length: shot.end - shot.start }, (_, i) => {
    const step = Math.ceil((secondsAt(clock, shot.start + i) - start) * STEPS_PER_SECOND - ROUNDING);
    return turns[Math.min(step, steps - 1)] ?? 0;
  });
}

/** Absorbs what floating point takes from a time that is a whole number of steps. */
const ROUNDING = 1e-6;

/** A face in the frames shown at the steps of its shot. */
function courseOf({ start, faces }: FaceRows, shown: readonly number[]): FaceCourse {
  const opening = Float32Array.from(shown, (frame) => {
    const points = faces[frame - start];
    return points ? mouthOpening(points) : NaN;
  });
  let seen = -Infinity;
  const present = Array.from(opening, (value, step) => {
    if (!Number.isNaN(value)) seen = step;
    return step - seen < LONGEST_ABSENCE * STEPS_PER_SECOND;
  });
  const first = faces.find((points) => points !== null);
  const { x1, y1, x2, y2 } = landmarkBounds(first ?? new Float32Array());
  return { opening, present, size: first ? Math.hypot(x2 - x1, y2 - y1) : 0 };
}
