import { landmarkBounds } from './face-patch';
import { LONGEST_GAP } from './fill-gaps';
import { WORKING_FPS } from '@lipsync/domain';
import {
  FACE_TRACK_VERSION,
  faceRuns,
  type FaceTrack,
  LANDMARK_VALUES,
  MOUTH,
  smoothingReach,
  smoothRun,
  TRACK_REACH,
} from '@lipsync/engines';

/** Smoothing, in frames, of all landmarks except the mouth's, which are used to measure lip motion. */
const LANDMARK_SIGMA = 1.5;

/**
 * How many frames after a frame can affect the data derived for it: the reach of engines in the track, plus the reach
 * of the landmarks' smoothing, plus the frames up to the sighting that ends a gap there.
 */
export const LOOK_AHEAD_FRAMES = TRACK_REACH + smoothingReach(LANDMARK_SIGMA) + LONGEST_GAP;

export interface TrackInput {
  readonly analyzerVersion: string;
  /** Size of the source picture, and per frame 136 landmark values in its pixels, or null. */
  readonly source: { readonly width: number; readonly height: number };
  readonly faces: readonly (Float32Array | null)[];
  readonly cuts: readonly boolean[];
}

/** Smooths the measured landmarks and lays them out as a face track. */
export function buildTrack({ analyzerVersion, source, faces, cuts }: TrackInput): FaceTrack {
  const frames = faces.length;
  const found = new Uint8Array(frames);
  const landmarks = new Float32Array(frames * LANDMARK_VALUES);
  faces.forEach((face, frame) => {
    if (face === null || !isInPicture(face, source)) return;
    found[frame] = 1;
    landmarks.set(face, frame * LANDMARK_VALUES);
  });
  const cutFlags = Uint8Array.from(cuts, Number);
  for (const run of faceRuns(found, cutFlags)) {
    smoothRun(landmarks, LANDMARK_VALUES, run, { first: 0, last: MOUTH[0] * 2 }, LANDMARK_SIGMA);
  }
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion,
    fps: WORKING_FPS,
    frames,
    ...source,
    found,
    landmarks,
    cuts: cutFlags,
  };
}

function isInPicture(face: Float32Array, { width, height }: TrackInput['source']): boolean {
  const { x1, y1, x2, y2 } = landmarkBounds(face);
  return x1 < width && x2 > 0 && y1 < height && y2 > 0;
}
