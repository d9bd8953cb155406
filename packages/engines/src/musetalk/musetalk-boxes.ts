import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
import { faceRuns, smoothRun } from '../face/smoothing';
import { faceBox, type FaceBoxPlacement } from './face-box';

/**
 * Width of the smoothing weights, in frames. The position of the crop box may follow a nod; its size must not change
 * with the jaw.
 */
const CENTRE_SIGMA = 2;
const SIZE_SIGMA = 6;

/**
 * MuseTalk's face crop of every frame of a track, smoothed over time within each shot: x1, y1, x2, y2 per frame, in
 * pixels of the picture and inside it. Rows of frames without a face in the picture are zero. Upstream crops every
 * frame separately, which shows as jitter.
 */
export function musetalkBoxes(track: FaceTrack, placement: FaceBoxPlacement): Float32Array {
  const present = new Uint8Array(track.frames);
  const boxes = new Float32Array(track.frames * 4);
  for (let frame = 0; frame < track.frames; frame++) {
    const landmarks = track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
    const box = track.found[frame] === 1 ? faceBox(landmarks, track, placement) : null;
    if (box === null) continue;
    present[frame] = 1;
    boxes.set([box.x1 + box.x2, box.y1 + box.y2, box.x2 - box.x1, box.y2 - box.y1], frame * 4);
  }
  for (const run of faceRuns(present, track.cuts)) {
    smoothRun(boxes, 4, run, { first: 0, last: 2 }, CENTRE_SIGMA);
    smoothRun(boxes, 4, run, { first: 2, last: 4 }, SIZE_SIGMA);
  }
  for (let frame = 0; frame < track.frames; frame++) {
    if (present[frame] === 1) toCorners(boxes.subarray(frame * 4, frame * 4 + 4), track);
  }
  return boxes;
}

/** Converts doubled centre and size to corners inside the picture, in place. */
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
