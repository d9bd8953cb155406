import { type Box, type RgbPicture } from '@lipsync/lipsync';
import { type AnalyzerParams } from '@lipsync/model-pack';
import { createBystanders, SAME_FACE_OVERLAP } from './bystanders';
import { type Detection, type FaceDetector } from './face-detector';
import { boxPatch, facePatch, landmarkBounds } from './face-patch';
import { type FindLandmarks } from './landmark-finder';
import { boxArea, overlap } from './overlap';

/**
 * Follows the main face of a video. Called with every frame in order; `newShot` forgets the face of the shot before.
 * Returns the face's landmarks, or null when the frame shows none.
 */
export type TrackFace = (picture: RgbPicture, newShot: boolean) => Promise<Float32Array | null>;

/** A followed face is looked at with the detector again after this many frames. */
const CHECK_EVERY = 10;

/**
 * After this many frames of following a face it is seen again who else is in the picture. Who walks would not be known
 * again if more than a few steps were missed; that somebody joins can wait, for most videos show one face alone.
 */
const LOOK_AROUND_EVERY = { alone: 50, accompanied: 5 };

/** Without a face, very large and very small ones are searched for only in every 5th frame: it takes six times as long. */
const THOROUGH_EVERY = 5;

/** A face that has been away for so many frames, three seconds, is not waited for: whoever is there is the main face. */
const LONGEST_WAIT = 75;

/** Of a face with fewer pixels than this on a side nothing can be told, and patterns begin to look like faces. */
const SMALLEST_DETECTION = 12;

/** Landmarks from a detector's box or of a fast head are found again in the patch that they describe. */
const REFINEMENTS = 2;
const FAST_MOTION = 0.12;

interface Candidate {
  readonly points: Float32Array;
  /** Around the landmarks. */
  readonly box: Box;
  /** The detector's, which reaches further: bystanders are known by theirs. */
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
  let framesFollowed = 0;
  let framesSearched = 0;

  async function follow(picture: RgbPicture, previous: Float32Array): Promise<Float32Array | null> {
    const patch = facePatch(previous, landmarks.scale);
    let found = await findLandmarks(picture, patch);
    const moved = facePatch(found.points, landmarks.scale);
    if (Math.hypot(moved.x - patch.x, moved.y - patch.y) > FAST_MOTION * patch.side) {
      found = await findLandmarks(picture, moved);
    }
    if (!found.agree) return null;
    framesFollowed++;
    if (framesFollowed % CHECK_EVERY === 0 && !(await showsFace(picture, found.points))) return null;
    const company = bystanders.areKnown() ? 'accompanied' : 'alone';
    if (framesFollowed % LOOK_AROUND_EVERY[company] === 0) await lookAround(picture, found.points);
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

  /** A face so small that the closer look would see it blurred beyond recognition, and that was clear from afar. */
  function needsNoCloseUp(points: Float32Array, score: number): boolean {
    const { inputSize, scale, sureScore } = detection.closeUp;
    return score >= sureScore && facePatch(points, scale).side < inputSize / 2;
  }

  /** The landmarks of a detected face, when a closer look confirms it. */
  async function confirm(picture: RgbPicture, { box, score }: Detection): Promise<Candidate | null> {
    let found = await findLandmarks(picture, boxPatch(box));
    for (let i = 0; i < REFINEMENTS; i++) {
      found = await findLandmarks(picture, facePatch(found.points, landmarks.scale));
    }
    const { points, agree } = found;
    const bounds = landmarkBounds(points);
    if (!agree || Math.min(bounds.x2 - bounds.x1, bounds.y2 - bounds.y1) < SMALLEST_DETECTION) return null;
    const isFace = needsNoCloseUp(points, score) || (await showsFace(picture, points));
    return isFace ? { points, box: bounds, detected: box } : null;
  }

  async function search(picture: RgbPicture): Promise<Float32Array | null> {
    const thorough = framesSearched++ % THOROUGH_EVERY === 0;
    if (framesSearched > LONGEST_WAIT) bystanders.forget();
    // Looking closer than the picture's own pixels finds no more.
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

  /** The face that was followed before when it is among them, else the largest of those who were not seen beside it. */
  function mainFace(candidates: readonly Candidate[]): Candidate | null {
    const rank = ({ box, detected }: Candidate): number => {
      const nearness = Math.max(bystanders.nearness(detected), SAME_FACE_OVERLAP);
      // Somebody who walks past the main face comes to where it was, but from a place that is nearer still.
      if (lastBox !== null && overlap(box, lastBox) > nearness) return Infinity;
      return nearness > SAME_FACE_OVERLAP ? 0 : boxArea(box);
    };
    return candidates.reduce<Candidate | null>(
      (best, candidate) => (rank(candidate) > (best === null ? 0 : rank(best)) ? candidate : best),
      null,
    );
  }

  return async (picture, newShot) => {
    if (newShot) {
      face = null;
      lastBox = null;
      framesSearched = 0;
      bystanders.forget();
    }
    if (face !== null) face = await follow(picture, face);
    if (face === null) {
      framesFollowed = 0;
      face = await search(picture);
    }
    if (face !== null) {
      lastBox = landmarkBounds(face);
      framesSearched = 0;
    }
    return face;
  };
}
