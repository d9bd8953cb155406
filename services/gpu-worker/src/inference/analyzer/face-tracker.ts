import { type AnalyzerParams } from '@lipsync/engines';
import { type Box, type RgbPicture } from '@lipsync/kernels';
import { type Detection, type FaceDetector } from './face-detector';
import { boxArea, boxPatch, facePatch, landmarkBounds, overlap } from './face-geometry';
import { type FindLandmarks } from './landmark-finder';

/**
 * Follows the main face of a video. Must be called with every picture in order and with the second when it appears;
 * `newShot` forgets the previous shot's face. Returns the face's landmarks, or null when the picture shows none.
 */
type TrackFace = (picture: RgbPicture, seconds: number, newShot: boolean) => Promise<Float32Array | null>;

/** The detector checks a followed face again after this many seconds. */
const CHECK_EVERY = 0.4;

/**
 * While following a face, the tracker looks for other people again after this many seconds. It would not recognize
 * somebody who walks if it missed more than a few steps. Noticing a newcomer can wait, because most videos show a
 * single face.
 */
const LOOK_AROUND_EVERY = { alone: 2, accompanied: 0.2 };

/**
 * Without a face, very large and very small ones are searched for only after this many seconds: this takes six times as
 * long.
 */
const THOROUGH_EVERY = 0.2;

/** The tracker waits this many seconds for a lost face. After that, whoever is there is the main face. */
const LONGEST_WAIT = 3;

/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/** A face with fewer pixels than this on a side reveals nothing, and patterns begin to look like faces. */
const SMALLEST_DETECTION = 12;

/** Landmarks from a detector's box, or of a fast head, are found again in the patch that they describe. */
const REFINEMENTS = 2;
const FAST_MOTION = 0.12;

interface Candidate {
  readonly points: Float32Array;
  /** Bounds of the landmarks. */
  readonly box: Box;
  /** The detector's box, which extends further. Bystanders are remembered by theirs. */
  readonly detected: Box;
}

export function createFaceTracker(
  detector: FaceDetector,
  findLandmarks: FindLandmarks,
  params: AnalyzerParams,
): TrackFace {
  const { landmarks, detector: detection } = params;
  const [glance = 0] = detection.inputSizes;
  const bystanders = createBystanders();
  let face: Float32Array | null = null;
  let lastBox: Box | null = null;
  /** Seconds of this picture and of the one before. */
  let now = 0;
  let before = 0;
  let followedSince = 0;
  let searchedSince: number | null = null;

  /** Whether a multiple of so many seconds since then was reached after the picture before. */
  function isTime(every: number, since: number): boolean {
    const times = (seconds: number): number => Math.floor((seconds - since) / every + ROUNDING);
    return times(now) > times(before);
  }

  async function follow(picture: RgbPicture, previous: Float32Array): Promise<Float32Array | null> {
    const patch = facePatch(previous, landmarks.scale);
    let found = await findLandmarks(picture, patch);
    const moved = facePatch(found.points, landmarks.scale);
    if (Math.hypot(moved.x - patch.x, moved.y - patch.y) > FAST_MOTION * patch.side) {
      found = await findLandmarks(picture, moved);
    }
    if (!found.agree) return null;
    if (isTime(CHECK_EVERY, followedSince) && !(await showsFace(picture, found.points))) return null;
    const company = bystanders.areKnown() ? 'accompanied' : 'alone';
    if (isTime(LOOK_AROUND_EVERY[company], followedSince)) await lookAround(picture, found.points);
    return found.points;
  }

  async function showsFace(picture: RgbPicture, points: Float32Array): Promise<boolean> {
    const { scale, scoreThreshold } = detection.closeUp;
    return (await detector.closeUpScore(picture, facePatch(points, scale))) >= scoreThreshold;
  }

  async function lookAround(picture: RgbPicture, points: Float32Array): Promise<void> {
    const seen = await detector.detect(picture, glance);
    bystanders.remember(
      seen.map(({ box }) => box),
      landmarkBounds(points),
    );
  }

  /** Whether a face is clear from afar but so small that a closer look would blur it beyond recognition. */
  function needsNoCloseUp(points: Float32Array, score: number): boolean {
    const { inputSize, scale, sureScore } = detection.closeUp;
    return score >= sureScore && facePatch(points, scale).side < inputSize / 2;
  }

  /** The landmarks of a detected face, if a closer look confirms it. */
  async function confirm(picture: RgbPicture, { box, score }: Detection): Promise<Candidate | null> {
    let found = await findLandmarks(picture, boxPatch(box, landmarks.scale / detection.boxScale));
    for (let i = 0; i < REFINEMENTS; i++) {
      found = await findLandmarks(picture, facePatch(found.points, landmarks.scale));
    }
    const { points, agree } = found;
    const bounds = landmarkBounds(points);
    if (!agree || Math.min(bounds.x2 - bounds.x1, bounds.y2 - bounds.y1) < SMALLEST_DETECTION) return null;
    const isFace = needsNoCloseUp(points, score) || (await showsFace(picture, points));
    return isFace ? { points, box: bounds, detected: box } : null;
  }

  async function search(picture: RgbPicture, since: number): Promise<Float32Array | null> {
    const thorough = now === since || isTime(THOROUGH_EVERY, since);
    if (now - since >= LONGEST_WAIT - ROUNDING) bystanders.forget();
    // Enlarging beyond the picture's own pixels finds no more.
    const closest = Math.max(glance, picture.width, picture.height);
    const sizes = detection.inputSizes.filter((size, i) => i === 0 || (thorough && size <= closest));
    for (const size of sizes) {
      const candidates: Candidate[] = [];
      for (const detected of await detector.detect(picture, size)) {
        const candidate = await confirm(picture, detected);
        if (candidate !== null) candidates.push(candidate);
      }
      const boxes = candidates.map(({ detected }) => detected);
      bystanders.update(boxes);
      const main = mainFace(candidates);
      if (main === null) continue;
      bystanders.remember(boxes, main.detected);
      return main.points;
    }
    return null;
  }

  /** The previously followed face if it is among them, otherwise the largest face that was not seen beside it. */
  function mainFace(candidates: readonly Candidate[]): Candidate | null {
    const rank = ({ box, detected }: Candidate): number => {
      const nearness = Math.max(bystanders.nearness(detected), SAME_FACE_OVERLAP);
      // Somebody who walks past the main face reaches its old position, but their own last position is nearer still.
      if (lastBox !== null && overlap(box, lastBox) > nearness) return Infinity;
      return nearness > SAME_FACE_OVERLAP ? 0 : boxArea(box);
    };
    return candidates.reduce<Candidate | null>(
      (best, candidate) => (rank(candidate) > (best === null ? 0 : rank(best)) ? candidate : best),
      null,
    );
  }

  return async (picture, seconds, newShot) => {
    [before, now] = [now, seconds];
    if (newShot) {
      face = null;
      lastBox = null;
      searchedSince = null;
      bystanders.forget();
    }
    if (face !== null) face = await follow(picture, face);
    if (face === null) {
      followedSince = now;
      searchedSince ??= now;
      face = await search(picture, searchedSince);
    }
    if (face !== null) {
      lastBox = landmarkBounds(face);
      searchedSince = null;
    }
    return face;
  };
}

/** Two boxes that overlap by more than this belong to one face. */
const SAME_FACE_OVERLAP = 0.2;

/** The detector sometimes misses a face: a bystander has left only after this many misses in a row. */
const MOST_MISSED = 3;

interface Bystander {
  readonly box: Box;
  /** How many times in a row the bystander was not seen. */
  readonly missed: number;
}

/** The other faces around the followed one. The tracker does not mistake them for it when it is briefly hidden. */
function createBystanders() {
  let known: readonly Bystander[] = [];
  const isSame = (a: Box, b: Box): boolean => overlap(a, b) > SAME_FACE_OVERLAP;
  return {
    /** Remembers all faces in `seen` except the followed one. Forgets a bystander missed several times in a row. */
    remember(seen: readonly Box[], followed: Box): void {
      const others = seen.filter((box) => !isSame(box, followed));
      const unseen = known
        .filter(({ box }) => !others.some((other) => isSame(other, box)))
        .map(({ box, missed }) => ({ box, missed: missed + 1 }));
      known = [
        ...others.map((box) => ({ box, missed: 0 })),
        ...unseen.filter(({ missed }) => missed < MOST_MISSED),
      ];
    },
    /** Updates the positions of bystanders that have moved a little; adds and forgets nobody. */
    update(seen: readonly Box[]): void {
      known = known.map(({ box, missed }) => ({ box: nearest(seen, box), missed }));
    },
    /** How much the face overlaps the nearest bystander, 0..1. */
    nearness: (face: Box): number => Math.max(0, ...known.map(({ box }) => overlap(box, face))),
    areKnown: (): boolean => known.length > 0,
    forget(): void {
      known = [];
    },
  };
}

/** Where the face in `box` is now: the seen box that overlaps it most, or `box` itself if none overlaps. */
function nearest(seen: readonly Box[], box: Box): Box {
  const near = seen.filter((other) => overlap(other, box) > SAME_FACE_OVERLAP);
  return (
    near.reduce<Box | null>(
      (best, other) => (best === null || overlap(other, box) > overlap(best, box) ? other : best),
      null,
    ) ?? box
  );
}
