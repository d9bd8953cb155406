import { type Box, type RgbPicture } from '@lipsync/lipsync';
import { type AnalyzerParams } from '@lipsync/model-pack';
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

/** Without a face, small faces are searched for only in every 5th frame: it takes four times as long. */
const THOROUGH_EVERY = 5;

/** A found face overlapping this much with the last one is the same person, whoever else is larger by now. */
const SAME_FACE_OVERLAP = 0.2;

/** Landmarks from a detector's box or of a fast head are found again in the patch that they describe. */
const REFINEMENTS = 2;
const FAST_MOTION = 0.12;

interface Candidate {
  readonly points: Float32Array;
  readonly box: Box;
}

export function createFaceTracker(
  detector: FaceDetector,
  findLandmarks: FindLandmarks,
  params: AnalyzerParams,
): TrackFace {
  const { landmarks, detector: detection } = params;
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
    if (found.disagreement > landmarks.maxDisagreement) return null;
    framesFollowed++;
    return framesFollowed % CHECK_EVERY !== 0 || (await showsFace(picture, found.points))
      ? found.points
      : null;
  }

  async function showsFace(picture: RgbPicture, points: Float32Array): Promise<boolean> {
    const { scale, scoreThreshold } = detection.closeUp;
    return (await detector.closeUpScore(picture, facePatch(points, scale))) >= scoreThreshold;
  }

  /** The landmarks of a detected face, when a closer look confirms it. */
  async function confirm(picture: RgbPicture, { box }: Detection): Promise<Candidate | null> {
    let found = await findLandmarks(picture, boxPatch(box));
    for (let i = 0; i < REFINEMENTS; i++) {
      found = await findLandmarks(picture, facePatch(found.points, landmarks.scale));
    }
    if (found.disagreement > landmarks.maxDisagreement || !(await showsFace(picture, found.points)))
      return null;
    return { points: found.points, box: landmarkBounds(found.points) };
  }

  async function search(picture: RgbPicture): Promise<Float32Array | null> {
    const thorough = framesSearched++ % THOROUGH_EVERY === 0;
    // Looking closer than the picture's own pixels finds no more.
    const sizes = detection.inputSizes.filter(
      (size, i) => i === 0 || (thorough && size <= Math.max(picture.width, picture.height)),
    );
    for (const size of sizes) {
      const candidates: Candidate[] = [];
      for (const detected of await detector.detect(picture, size)) {
        const candidate = await confirm(picture, detected);
        if (candidate !== null) candidates.push(candidate);
      }
      const main = mainFace(candidates, lastBox);
      if (main !== null) return main.points;
    }
    return null;
  }

  return async (picture, newShot) => {
    if (newShot) {
      face = null;
      lastBox = null;
      framesSearched = 0;
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

/** The face that was followed before when it is among them, else the largest. */
function mainFace(candidates: readonly Candidate[], lastBox: Box | null): Candidate | null {
  const rank = ({ box }: Candidate): number =>
    lastBox !== null && overlap(box, lastBox) > SAME_FACE_OVERLAP ? Infinity : boxArea(box);
  return candidates.reduce<Candidate | null>(
    (best, candidate) => (best === null || rank(candidate) > rank(best) ? candidate : best),
    null,
  );
}
