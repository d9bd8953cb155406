import { type Box } from '@lipsync/kernels';
import { type FaceTrack, landmarksAt } from '../face/face-track';
import { boxAt, landmark, LANDMARK_COUNT, SMALLEST_FACE } from '../face/landmarks';
import { faceRuns, smoothRun } from '../face/smoothing';
import { type MusetalkParams } from './manifest';

/** A face in a source frame, in pixels of the picture. */
export interface SourceFace {
  readonly sourceIndex: number;
  readonly box: Box;
  /** 68 points, x and y. */
  readonly landmarks: Float32Array;
}

/** The face of a source frame if it can be rendered; null when the frame must pass unchanged. */
export type FaceAt = (sourceIndex: number) => SourceFace | null;

export function createSourceFaces(track: FaceTrack, placement: MusetalkParams['crop']): FaceAt {
  const boxes = musetalkBoxes(track, placement);
  const find = (sourceIndex: number): SourceFace | null => {
    const box = boxAt(boxes, sourceIndex);
    if (box.x2 - box.x1 < SMALLEST_FACE || box.y2 - box.y1 < SMALLEST_FACE) return null;
    return { sourceIndex, box, landmarks: landmarksAt(track, sourceIndex) };
  };
  // The same frame is often requested several times in a row.
  let last = -1;
  let face: SourceFace | null = null;
  return (sourceIndex) => {
    if (sourceIndex !== last) face = find(sourceIndex);
    last = sourceIndex;
    return face;
  };
}

/**
 * Width of the smoothing weights, in seconds. The position of the crop box may follow a nod; its size must not change
 * with the jaw.
 */
const CENTER_SIGMA = 0.08;
const SIZE_SIGMA = 0.24;

/**
 * MuseTalk's face crop of every frame of a track, smoothed over time within each shot: x1, y1, x2, y2 per frame, in
 * pixels of the picture and inside it. Rows of frames without a face in the picture are zero. Upstream crops every
 * frame separately, which shows as jitter.
 */
export function musetalkBoxes(track: FaceTrack, placement: MusetalkParams['crop']): Float32Array {
  const present = new Uint8Array(track.frames);
  const boxes = new Float32Array(track.frames * 4);
  for (let frame = 0; frame < track.frames; frame++) {
    const box = track.found[frame] === 1 ? faceBox(landmarksAt(track, frame), track, placement) : null;
    if (box === null) continue;
    present[frame] = 1;
    boxes.set([box.x1 + box.x2, box.y1 + box.y2, box.x2 - box.x1, box.y2 - box.y1], frame * 4);
  }
  for (const run of faceRuns(present, track.cuts)) {
    smoothRun(boxes, 4, run, { first: 0, last: 2 }, CENTER_SIGMA, track);
    smoothRun(boxes, 4, run, { first: 2, last: 4 }, SIZE_SIGMA, track);
  }
  for (let frame = 0; frame < track.frames; frame++) {
    if (present[frame] === 1) toCorners(boxes.subarray(frame * 4, frame * 4 + 4), track);
  }
  return boxes;
}

/** Converts doubled center and size to corners inside the picture, in place. */
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

/** Low point of the nose bridge, the vertical middle of the crop, where the generated half begins. */
const CROP_MIDDLE = 29;

/**
 * The face crop that MuseTalk was trained on: as wide as the landmarks, from the chin as far above the nose bridge's
 * low point as the chin is below it, plus a margin under the chin. The position of its middle decides where the
 * generated mouth is, so it follows MuseTalk's preprocessing (github.com/TMElyralab/MuseTalk), with two differences:
 * the corners are not rounded, which would jitter, and the box is cut off at the picture's border on all sides. Null if
 * nothing is left of it.
 */
export function faceBox(
  landmarks: Float32Array,
  picture: { readonly width: number; readonly height: number },
  { shift, margin }: MusetalkParams['crop'],
): Box | null {
  let left = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const { x, y } = landmark(landmarks, index);
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  const middle = landmark(landmarks, CROP_MIDDLE).y + shift;
  const box = {
    x1: Math.max(0, left),
    y1: Math.max(0, middle - (bottom - middle)),
    x2: Math.min(picture.width, right),
    y2: Math.min(picture.height, bottom + margin),
  };
  return box.x2 - box.x1 > 0 && box.y2 - box.y1 > 0 ? box : null;
}
