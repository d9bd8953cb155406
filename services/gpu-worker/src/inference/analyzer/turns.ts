import { EVIDENCE_REACH, type HeardSteps, lipEvidence, STEPS_PER_SECOND } from './lip-evidence';

/** A face of a shot, at the shot's steps. */
export interface FaceCourse {
  /** Opening of the mouth in eye distances, NaN where the face is not seen. */
  readonly opening: Float32Array;
  /** Whether the face is in the shot; also while it is turned away or hidden for a moment. */
  readonly present: readonly boolean[];
  /** Side of the face in pixels. */
  readonly size: number;
}

/** Seconds of evidence that a decision looks ahead. */
const AHEAD = 3.6;
/** A decision depends on nothing that lies more seconds ahead. */
export const TURN_REACH = AHEAD + EVIDENCE_REACH;

/** How certain it must be that somebody else speaks before the turn changes: in a pause, and within a word. */
const CHANGE_IN_PAUSE = 1.5;
const CHANGE_IN_WORD = 3.5;
/** Among faces that speak alike, the largest one does: certainty per factor of e in size. */
const SIZE = 0.2;
const ABSENT = -1e6;
/** In a shot of fewer seconds nobody's lips can be judged. */
const SHORTEST_JUDGED = 1;

/**
 * Decides which of a shot's faces has the turn in every step, as an index. A face keeps its turn through pauses and while
 * it turns away. Each step takes the first step of the best course of turns through the seconds ahead (receding
 * horizon), so that a decision never depends on what comes later.
 */
export function decideTurns(faces: readonly FaceCourse[], sound: HeardSteps | null): number[] {
  const steps = faces[0]?.opening.length ?? 0;
  const isJudged = steps >= SHORTEST_JUDGED * STEPS_PER_SECOND;
  const evidence = isJudged ? faces.map(({ opening }) => lipEvidence(opening, sound)) : [];
  const horizon = Math.round(AHEAD * STEPS_PER_SECOND);
  const largest = Math.max(...faces.map(({ size }) => size));
  const gain = (face: number, step: number): number =>
    faces[face]?.present[step] === true ? (evidence[face]?.[step] ?? 0) / STEPS_PER_SECOND : ABSENT;
  const change = (step: number): number => {
    const pause = sound?.pause[step] ?? 0;
    return CHANGE_IN_WORD + pause * (CHANGE_IN_PAUSE - CHANGE_IN_WORD);
  };
  const turns: number[] = [];
  let holder: number | null = null;
  for (let step = 0; step < steps; step++) {
    const best = worth(faces.length, step, Math.min(steps, step + horizon), gain, change);
    const ranks = best.map((value, face) =>
      holder === null
        ? value + SIZE * Math.log((faces[face]?.size ?? 1) / largest)
        : value - (face === holder ? 0 : change(step)),
    );
    holder = ranks.indexOf(Math.max(...ranks));
    turns.push(holder);
  }
  return turns;
}

/** What the steps from `start` to `end` are worth if a face has the turn in the first of them (dynamic programming). */
function worth(
  faces: number,
  start: number,
  end: number,
  gain: (face: number, step: number) => number,
  change: (step: number) => number,
): number[] {
  let ahead = Array.from({ length: faces }, () => 0);
  for (let step = end - 1; step >= start; step--) {
    const other = Math.max(...ahead) - change(step + 1);
    ahead = ahead.map((value, face) => gain(face, step) + Math.max(value, other));
  }
  return ahead;
}
