import { landmark, LANDMARK_COUNT, landmarkCenter, LEFT_EYE, RIGHT_EYE } from '@lipsync/engines';
import { type Box, type Patch } from '@lipsync/kernels';

/**
 * The square around a face, turned so that the eyes are level: the networks were trained on upright faces.
 * Its side is `scale` times the landmarks' larger extent.
 */
export function facePatch(landmarks: Float32Array, scale: number): Patch {
  const left = landmarkCenter(landmarks, LEFT_EYE);
  const right = landmarkCenter(landmarks, RIGHT_EYE);
  const angle = Math.atan2(right.y - left.y, right.x - left.x);
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  let minAlong = Infinity;
  let maxAlong = -Infinity;
  let minDown = Infinity;
  let maxDown = -Infinity;
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const { x, y } = landmark(landmarks, index);
    const along = cos * x + sin * y;
    const down = cos * y - sin * x;
    minAlong = Math.min(minAlong, along);
    maxAlong = Math.max(maxAlong, along);
    minDown = Math.min(minDown, down);
    maxDown = Math.max(maxDown, down);
  }
  const along = (minAlong + maxAlong) / 2;
  const down = (minDown + maxDown) / 2;
  return {
    x: cos * along - sin * down,
    y: sin * along + cos * down,
    side: scale * Math.max(maxAlong - minAlong, maxDown - minDown),
    angle,
  };
}

/** The square around the middle of a detector's box. Its side is `scale` times the box's larger one. */
export function boxPatch({ x1, y1, x2, y2 }: Box, scale: number): Patch {
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, side: scale * Math.max(x2 - x1, y2 - y1), angle: 0 };
}

/** The smallest upright box around a face's landmarks, or around those from `first` to `end` (exclusive). */
export function landmarkBounds(landmarks: Float32Array, first = 0, end = LANDMARK_COUNT): Box {
  const box = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
  for (let index = first; index < end; index++) {
    const { x, y } = landmark(landmarks, index);
    box.x1 = Math.min(box.x1, x);
    box.y1 = Math.min(box.y1, y);
    box.x2 = Math.max(box.x2, x);
    box.y2 = Math.max(box.y2, y);
  }
  return box;
}

export function boxArea({ x1, y1, x2, y2 }: Box): number {
  return Math.max(0, x2 - x1) * Math.max(0, y2 - y1);
}

/** Intersection over union, 0..1. */
export function overlap(a: Box, b: Box): number {
  const common = boxArea({
    x1: Math.max(a.x1, b.x1),
    y1: Math.max(a.y1, b.y1),
    x2: Math.min(a.x2, b.x2),
    y2: Math.min(a.y2, b.y2),
  });
  const union = boxArea(a) + boxArea(b) - common;
  return union > 0 ? common / union : 0;
}
