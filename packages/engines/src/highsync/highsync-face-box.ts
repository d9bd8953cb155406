import { type Box } from '@lipsync/kernels';
import { landmark, LANDMARK_COUNT, landmarkCentre } from '../face/landmarks68';
import { SMALLEST_FACE } from '../face/smallest-face';

/** Both eyebrows, as [first, last + 1]. */
const BROWS = [17, 27] as const;
/** The point where the nose meets the upper lip. */
const NOSE_BASE = 33;
/**
 * How far a detector's box extends above the eyebrows, as a fraction of the distance from them to the nose base.
 * Measured on real clips with YuNet, which like HighSync's own detector was trained on WIDER FACE: median 0.79, with
 * the chin as the lower edge and the outermost landmarks as the side edges within 4 % of the box.
 */
const FOREHEAD = 0.8;

/**
 * The tight box around a face, forehead to chin, that HighSync's detector would return, computed from 68 landmarks.
 * Landmarks have no forehead, so the eyebrows are moved up along the axis of the face. Brows and nose do not move with
 * the jaw, so the upper edge of the box is steady during speech. The box may extend beyond the picture. Null for a face
 * that is too small.
 */
export function highsyncFaceBox(landmarks: Float32Array): Box | null {
  const brows = landmarkCentre(landmarks, BROWS);
  const nose = landmark(landmarks, NOSE_BASE);
  const liftX = FOREHEAD * (brows.x - nose.x);
  const liftY = FOREHEAD * (brows.y - nose.y);
  let x1 = Infinity;
  let y1 = Infinity;
  let x2 = -Infinity;
  let y2 = -Infinity;
  const include = (x: number, y: number): void => {
    x1 = Math.min(x1, x);
    y1 = Math.min(y1, y);
    x2 = Math.max(x2, x);
    y2 = Math.max(y2, y);
  };
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const { x, y } = landmark(landmarks, index);
    include(x, y);
    if (index >= BROWS[0] && index < BROWS[1]) include(x + liftX, y + liftY);
  }
  return x2 - x1 >= SMALLEST_FACE && y2 - y1 >= SMALLEST_FACE ? { x1, y1, x2, y2 } : null;
}
