import { WORKING_FPS } from '@lipsync/domain';
import {
  faceBox,
  faceRuns,
  type FaceTrack,
  LANDMARK_VALUES,
  MOUTH,
  smoothingReach,
  smoothRun,
} from '@lipsync/lipsync';
import { LONGEST_GAP } from './fill-gaps';

/** Weights' width for the crop box: its place may follow a nod, its size must not breathe with the jaw. Frames. */
const CENTRE_SIGMA = 2;
const SIZE_SIGMA = 6;

/** For all landmarks but the mouth's, which are what lip motion is measured by. Frames. */
const LANDMARK_SIGMA = 1.5;

/**
 * Frames after a frame that its row of the track depends on: as far as the widest smoothing reaches, and on to the
 * sighting that ends a gap there.
 */
export const LOOK_AHEAD_FRAMES =
  smoothingReach(Math.max(CENTRE_SIGMA, SIZE_SIGMA, LANDMARK_SIGMA)) + LONGEST_GAP;

export interface TrackInput {
  readonly analyzerVersion: string;
  /** Size of the source picture, and per frame 136 landmark values in its pixels, or null. */
  readonly source: { readonly width: number; readonly height: number };
  readonly faces: readonly (Float32Array | null)[];
  readonly cuts: readonly boolean[];
}

/** Steadies what was measured and lays it out as a face track. */
export function buildTrack({ analyzerVersion, source, faces, cuts }: TrackInput): FaceTrack {
  const frames = faces.length;
  const found = new Uint8Array(frames);
  const landmarks = new Float32Array(frames * LANDMARK_VALUES);
  const boxes = new Float32Array(frames * 4);
  faces.forEach((face, frame) => {
    const box = face === null ? null : faceBox(face, source);
    if (face === null || box === null) return;
    found[frame] = 1;
    landmarks.set(face, frame * LANDMARK_VALUES);
    boxes.set([box.x1 + box.x2, box.y1 + box.y2, box.x2 - box.x1, box.y2 - box.y1], frame * 4);
  });
  const cutFlags = Uint8Array.from(cuts, Number);

  for (const run of faceRuns(found, cutFlags)) {
    smoothRun(landmarks, LANDMARK_VALUES, run, { first: 0, last: MOUTH[0] * 2 }, LANDMARK_SIGMA);
    smoothRun(boxes, 4, run, { first: 0, last: 2 }, CENTRE_SIGMA);
    smoothRun(boxes, 4, run, { first: 2, last: 4 }, SIZE_SIGMA);
  }
  for (let frame = 0; frame < frames; frame++) toCorners(boxes.subarray(frame * 4, frame * 4 + 4), source);

  return {
    version: '1',
    analyzerVersion,
    fps: WORKING_FPS,
    frames,
    width: source.width,
    height: source.height,
    durationSeconds: frames / WORKING_FPS,
    found,
    boxes,
    landmarks,
    cuts: cutFlags,
  };
}

/** Twice the centre, and the size → corners inside the picture, in place. */
function toCorners(
  box: Float32Array,
  { width, height }: { readonly width: number; readonly height: number },
): void {
  const [sumX = 0, sumY = 0, sizeX = 0, sizeY = 0] = box;
  box[0] = Math.max(0, (sumX - sizeX) / 2);
  box[1] = Math.max(0, (sumY - sizeY) / 2);
  box[2] = Math.min(width, (sumX + sizeX) / 2);
  box[3] = Math.min(height, (sumY + sizeY) / 2);
}
