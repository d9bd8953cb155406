import { type Clock, frameAt, secondsAt } from '@lipsync/domain';
import { mouthOpening } from '../sync';
import { coversMouth } from './cover';
import { type FaceTrack, landmarksAt } from './face-track';
import {
  distance,
  landmark,
  LANDMARK_VALUES,
  landmarkCenter,
  LEFT_EYE,
  NOSE_TIP,
  RIGHT_EYE,
  SMALLEST_FACE,
} from './landmarks';
import { secondsShown } from './looks';
import {
  EXEMPLAR_BYTES,
  EXEMPLAR_SIDE,
  EXEMPLARS,
  LEFT_CORNER,
  type MouthExemplars,
  mouthLandmarks,
  type MouthSquare,
  mouthSquare,
  NO_MOUTHS,
  RIGHT_CORNER,
} from './mouth-exemplars';
import { connectedRuns } from './smoothing';

/*
 * The exemplars of a look are a ladder of openings, from the mouth as it closes to the mouth as it opens widest. The
 * track alone proposes a few frames for every rung; of their pictures the sharpest serves.
 */

/** The rarest openings are mistakes of the landmarks, or a yawn. */
const LOWEST = 0.03;
const HIGHEST = 0.97;

/** So many seconds of a shot show what the mouth does. */
const SHORTEST_SHOT = 3;

/** Closer openings differ by the landmarks' noise alone, 0.002 to 0.003. */
const SMALLEST_STEP = 0.005;

/** Frames proposed for a rung, and how many seconds apart they are at least: neighbors look the same. */
const PROPOSALS = 3;
const APART = 0.12;
/** Absorbs what floating point takes from a difference between the times of two frames. */
const ROUNDING = 1e-9;

/**
 * What a frame may deviate by before it is as bad as one from the next rung: the nose from the middle between the eyes,
 * in distances of the eyes (as a head turns or nods by 10°: seen from below, the upper lip is thick); the slope of the
 * eyes, which the picture levels; the size of the face; the width of the mouth (a smile shines, and drawn together for "oo"
 * it looks blotched); one corner of the mouth from the height of the other (a crooked smile shows teeth on one side), how
 * far the face moves in 40 ms, and how far its picture reaches beyond the frame, as parts of its side.
 */
const TURN = 0.1;
const ROLL = 0.3;
const GROWTH = 0.25;
const WIDER = 0.1;
const SLANT = 0.05;
const MOTION = 0.03;
const MOTION_SECONDS = 0.04;
const OUTSIDE = 0.1;

/** A frame that is this much worse than the best for its rung, in rungs, serves as well. The earliest are proposed. */
const AS_GOOD = 0.25;

/** A face in a frame, as far as it matters to the choice. */
interface Candidate extends MouthSquare {
  readonly frame: number;
  readonly opening: number;
  /** How far the tip of the nose is from the middle between the eyes along their line, in distances of the eyes. */
  readonly turn: number;
  /** How far it is below that line, likewise. */
  readonly nod: number;
  /** The mouth's, as a part of the square's side. */
  readonly width: number;
  /** How far one corner of the mouth is below the other, likewise. */
  readonly slant: number;
}

/**
 * For each rung of a look's ladder a few of the first `frames` frames that may serve, as early as possible, because the
 * video is decoded once more up to the last; no rungs if none shows a free mouth with this look. Where a face was only
 * filled in, something else may be before the mouth.
 */
export function proposeMouths(track: FaceTrack, look: number, frames = track.frames): number[][] {
  const { found, looks, seen, held } = track;
  const { free, clear } = freeMouths(track);
  const shows = (frame: number): boolean =>
    found[frame] === 1 && seen[frame] === 1 && looks[frame] === look && free[frame] === 1;
  const anyFree = Array.from({ length: frames }, (_, frame) =>
    shows(frame) ? (candidateOf(track, frame) ?? []) : [],
  ).flat();
  const allClear = anyFree.filter(({ frame }) => clear[frame] === 1);
  const everywhere = allClear.length > 0 ? allClear : anyFree;
  if (everywhere.length === 0) return [];
  const candidates = mostTelling(track, everywhere);
  const { lowest, range } = rangeOf(candidates);
  const step = range / (EXEMPLARS - 1);
  const blemish = blemishesOf(track, candidates);
  const faces = candidates
    .filter(({ frame }) => held[frame] !== 1)
    .map((candidate) => ({ ...candidate, blemish: blemish(candidate) }));
  return Array.from({ length: EXEMPLARS }, (_, rung) => {
    const level = lowest + rung * step;
    const costs = faces.map(
      ({ opening, blemish }) => Math.abs(opening - level) / Math.max(step, SMALLEST_STEP) + blemish,
    );
    const most = costs.reduce((best, cost) => Math.min(best, cost), Infinity) + AS_GOOD;
    return apart(
      track.clock,
      faces.flatMap(({ frame }, i) => ((costs[i] ?? Infinity) <= most ? frame : [])),
    );
  });
}

/** Seconds before and after a covered mouth in which its picture may show something of the cover, and its shadow. */
const SHADOW = 0.3;

/** How close to a mouth a cover may come before it is in the mouth's picture: a fifth of the eyes' distance, in cells. */
const BESIDE_MOUTH = 4;

/**
 * The frames in which nothing has just covered the mouth, or is about to, as 1; and among them the clear ones, with
 * nothing beside the mouth either. Where something always lies beside it, as a microphone may, free ones have to serve.
 */
function freeMouths(track: FaceTrack): { readonly free: Uint8Array; readonly clear: Uint8Array } {
  const covered = Uint8Array.from(track.shown, (shown) => Number(shown === 0));
  const touched = covered.map((is, frame) => {
    const cover = track.covers.get(frame);
    return is === 1 || (cover && coversMouth(cover, landmarksAt(track, frame), BESIDE_MOUTH)) ? 1 : 0;
  });
  return { free: awayFrom(covered, track.clock), clear: awayFrom(touched, track.clock) };
}

/** Per frame, 1 where none of these is on screen within SHADOW. */
function awayFrom(these: Uint8Array, clock: Clock): Uint8Array {
  const away = new Uint8Array(these.length).fill(1);
  for (const [frame, is] of these.entries()) {
    if (is === 0) continue;
    const from = frameAt(clock, secondsAt(clock, frame) - SHADOW);
    const to = frameAt(clock, secondsAt(clock, frame + 1) + SHADOW);
    away.fill(0, from, to + 1);
  }
  return away;
}

function candidateOf(track: FaceTrack, frame: number): Candidate | null {
  const landmarks = landmarksAt(track, frame);
  const square = mouthSquare(landmarks);
  if (square.side < SMALLEST_FACE) return null;
  const left = landmarkCenter(landmarks, LEFT_EYE);
  const right = landmarkCenter(landmarks, RIGHT_EYE);
  const nose = landmark(landmarks, NOSE_TIP);
  const [acrossX, acrossY] = [right.x - left.x, right.y - left.y];
  const [noseX, noseY] = [nose.x - (left.x + right.x) / 2, nose.y - (left.y + right.y) / 2];
  const squared = acrossX ** 2 + acrossY ** 2;
  const turn = (noseX * acrossX + noseY * acrossY) / squared;
  const nod = (noseY * acrossX - noseX * acrossY) / squared;
  const [from, to] = [landmark(landmarks, LEFT_CORNER), landmark(landmarks, RIGHT_CORNER)];
  const width = distance(from, to) / square.side;
  const slant =
    ((to.y - from.y) * Math.cos(square.angle) - (to.x - from.x) * Math.sin(square.angle)) / square.side;
  return { ...square, frame, opening: mouthOpening(landmarks), turn, nod, width, slant };
}

/**
 * The candidates of the shot in which the mouth moves most, because one camera and one light are most alike. All of them
 * if every shot is short.
 */
function mostTelling(track: FaceTrack, candidates: readonly Candidate[]): readonly Candidate[] {
  let shot = 0;
  const shotOf = Uint32Array.from(track.cuts, (cut) => (shot += cut));
  const at = (i: number): number => shotOf[candidates[i]?.frame ?? -1] ?? -1;
  const shots = connectedRuns(
    candidates.length,
    () => true,
    (i) => at(i) === at(i - 1),
  )
    .map(({ start, end }) => candidates.slice(start, end))
    .filter(
      (shown) =>
        secondsShown(
          track.clock,
          shown.map(({ frame }) => frame),
        ) >= SHORTEST_SHOT,
    )
    .sort((a, b) => rangeOf(b).range - rangeOf(a).range);
  return shots[0] ?? candidates;
}

function rangeOf(candidates: readonly Candidate[]): { lowest: number; range: number } {
  const openings = candidates.map(({ opening }) => opening);
  const lowest = quantile(openings, LOWEST);
  return { lowest, range: quantile(openings, HIGHEST) - lowest };
}

/** What speaks against a candidate besides its opening, in rungs. */
function blemishesOf(track: FaceTrack, candidates: readonly Candidate[]): (candidate: Candidate) => number {
  const usual = (of: (candidate: Candidate) => number): number => quantile(candidates.map(of), 0.5);
  const turn = usual((candidate) => candidate.turn);
  const nod = usual((candidate) => candidate.nod);
  const angle = usual((candidate) => candidate.angle);
  const side = usual((candidate) => candidate.side);
  const width = usual((candidate) => candidate.width);
  const slant = usual((candidate) => candidate.slant);
  return (candidate) =>
    Math.hypot(candidate.turn - turn, candidate.nod - nod) / TURN +
    Math.abs(candidate.angle - angle) / ROLL +
    Math.abs(Math.log(candidate.side / side)) / GROWTH +
    Math.abs(Math.log(candidate.width / width)) / WIDER +
    Math.abs(candidate.slant - slant) / SLANT +
    motionAt(track, candidate) / MOTION +
    beyondPicture(track, candidate) / OUTSIDE;
}

/**
 * How far the eyes move in MOTION_SECONDS from the frame before or to the frame after, whichever is more, as a part of the
 * square. Nothing is known of how a face moves that is held.
 */
function motionAt(track: FaceTrack, { frame, side }: Candidate): number {
  const eyesAt = (at: number) => landmarkCenter(landmarksAt(track, at), EYES);
  const here = eyesAt(frame);
  const steps = [frame - 1, frame + 1].map((other) => {
    if (track.found[other] !== 1 || track.held[other] === 1 || track.cuts[Math.max(frame, other)] === 1)
      return 0;
    const there = eyesAt(other);
    const seconds = Math.abs(secondsAt(track.clock, other) - secondsAt(track.clock, frame));
    return (Math.hypot(there.x - here.x, there.y - here.y) * MOTION_SECONDS) / seconds;
  });
  return Math.max(...steps) / side;
}

const EYES = [LEFT_EYE[0], RIGHT_EYE[1]] as const;

function beyondPicture({ width, height }: FaceTrack, { x, y, side }: Candidate): number {
  const beyond = Math.max(side / 2 - x, side / 2 - y, x + side / 2 - width, y + side / 2 - height);
  return Math.max(0, beyond) / side;
}

/** The first few of these frames, in ascending order, that are not next to an earlier one. */
function apart(clock: Clock, frames: readonly number[]): number[] {
  const taken: number[] = [];
  for (const frame of frames) {
    if (taken.length === PROPOSALS) break;
    const latest = taken.at(-1);
    if (latest === undefined || secondsAt(clock, frame) - secondsAt(clock, latest) >= APART - ROUNDING)
      taken.push(frame);
  }
  return taken;
}

/** A picture this much brighter or darker than the usual one was taken in other light. */
const OTHER_LIGHT = 1.25;

/**
 * The exemplars, chosen from the pictures of the proposed frames, by frame: for each rung the sharpest in the usual
 * light. A rung that was only seen in other light repeats the one next to it, because gloss and shadow stay when a
 * picture is lit again; but the ends of the ladder show how far the mouth closes and opens, in whatever light. NO_MOUTHS
 * without pictures.
 */
export function chooseMouths(
  track: FaceTrack,
  proposals: readonly (readonly number[])[],
  pictures: ReadonlyMap<number, Uint8Array>,
): MouthExemplars {
  const mouths = new Map<number, Mouth>();
  for (const frame of new Set(proposals.flat())) {
    const picture = pictures.get(frame);
    if (picture) mouths.set(frame, mouthOf(frame, picture));
  }
  const usual = quantile(
    [...mouths.values()].map(({ luma }) => luma),
    0.5,
  );
  const isUsual = ({ luma }: Mouth): boolean => Math.max(luma / usual, usual / luma) <= OTHER_LIGHT;
  const ladder = proposals.map((frames, rung) => {
    const known = frames.flatMap((frame) => mouths.get(frame) ?? []);
    const alike = known.filter(isUsual);
    const isEnd = rung === 0 || rung === proposals.length - 1;
    return (isEnd && alike.length === 0 ? known : alike).sort((a, b) => b.sharpness - a.sharpness)[0];
  });
  const filled = ladder.flatMap((mouth, rung) => mouth ?? nearest(ladder, rung) ?? []);
  return filled.length < EXEMPLARS ? NO_MOUTHS : layOut(track, filled);
}

function nearest<T>(row: readonly (T | undefined)[], place: number): T | undefined {
  const there = [...row.entries()].filter(([, value]) => value !== undefined);
  return there.sort(([a], [b]) => Math.abs(a - place) - Math.abs(b - place))[0]?.[1];
}

/** The picture of a frame, and what distinguishes it from others. */
interface Mouth {
  readonly frame: number;
  readonly picture: Uint8Array;
  readonly luma: number;
  readonly sharpness: number;
}

/** The middle of a picture, which holds the mouth. */
const MIDDLE = { from: EXEMPLAR_SIDE / 4, to: (3 * EXEMPLAR_SIDE) / 4 };

/** Mean brightness of the middle of a picture, and as its sharpness the variance of the brightness's Laplacian. */
function mouthOf(frame: number, picture: Uint8Array): Mouth {
  const plane = EXEMPLAR_SIDE ** 2;
  const lumaAt = (at: number): number =>
    0.299 * (picture[at] ?? 0) + 0.587 * (picture[at + plane] ?? 0) + 0.114 * (picture[at + 2 * plane] ?? 0);
  let [luma, sum, squares] = [0, 0, 0];
  for (let y = MIDDLE.from; y < MIDDLE.to; y++) {
    for (let x = MIDDLE.from; x < MIDDLE.to; x++) {
      const at = y * EXEMPLAR_SIDE + x;
      const here = lumaAt(at);
      const around =
        lumaAt(at - 1) + lumaAt(at + 1) + lumaAt(at - EXEMPLAR_SIDE) + lumaAt(at + EXEMPLAR_SIDE);
      luma += here;
      sum += around - 4 * here;
      squares += (around - 4 * here) ** 2;
    }
  }
  const count = (MIDDLE.to - MIDDLE.from) ** 2;
  return { frame, picture, luma: luma / count, sharpness: squares / count - (sum / count) ** 2 };
}

function layOut(track: FaceTrack, mouths: readonly Mouth[]): MouthExemplars {
  const pictures = new Uint8Array(EXEMPLARS * EXEMPLAR_BYTES);
  const landmarks = new Float32Array(EXEMPLARS * LANDMARK_VALUES);
  mouths
    .map(({ frame, picture }) => ({ picture, points: landmarksAt(track, frame) }))
    .sort((a, b) => mouthOpening(a.points) - mouthOpening(b.points))
    .forEach(({ picture, points }, rung) => {
      pictures.set(picture, rung * EXEMPLAR_BYTES);
      landmarks.set(mouthLandmarks(points), rung * LANDMARK_VALUES);
    });
  return { pictures, landmarks };
}

/** The value below which this part of the values lies; NaN for none. */
function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round(part * (sorted.length - 1))] ?? NaN;
}
