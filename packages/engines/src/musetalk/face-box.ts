import { type Box } from '@lipsync/kernels';
import { landmark, LANDMARK_COUNT } from '../face/landmarks68';

/** Low point of the nose bridge, the vertical middle of the crop, where the generated half begins. */
const CROP_MIDDLE = 29;

/** The position of MuseTalk's crop on a face, in pixels of the picture. */
export interface FaceBoxPlacement {
  /** How far the vertical middle of the crop is below the nose bridge's low point (`bbox_shift`). */
  readonly shift: number;
  /** Room below the chin (`extra_margin`). */
  readonly margin: number;
}

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
  { shift, margin }: FaceBoxPlacement,
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
