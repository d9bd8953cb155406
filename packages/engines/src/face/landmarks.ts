import { type Box, type Point } from '@lipsync/kernels';

/** Points of the iBUG-68 scheme. */
export const LANDMARK_COUNT = 68;

/** How far a head is turned shows in the place of this point. */
export const NOSE_TIP = 30;

/** Groups of points as [first, last + 1]; left and right as seen by the viewer. */
export const LEFT_EYE = [36, 42] as const;
export const RIGHT_EYE = [42, 48] as const;
export const MOUTH = [48, 68] as const;

/** Values per frame: x and y of every point, pixels. */
export const LANDMARK_VALUES = LANDMARK_COUNT * 2;

/** One point of a frame's 136 values. */
export function landmark(landmarks: Float32Array, index: number): Point {
  return { x: landmarks[index * 2] ?? 0, y: landmarks[index * 2 + 1] ?? 0 };
}

/** Mean of a group of points, e.g. of an eye. */
export function landmarkCenter(landmarks: Float32Array, [first, end]: readonly [number, number]): Point {
  let x = 0;
  let y = 0;
  for (let index = first; index < end; index++) {
    const point = landmark(landmarks, index);
    x += point.x;
    y += point.y;
  }
  return { x: x / (end - first), y: y / (end - first) };
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Smallest usable face, pixels per side. A face smaller than this in the picture has no lips to move. */
export const SMALLEST_FACE = 16;

/** The box of one frame in a table of them: x1, y1, x2, y2 per frame. */
export function boxAt(boxes: Float32Array, frame: number): Box {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(frame * 4, frame * 4 + 4);
  return { x1, y1, x2, y2 };
}

/** Picture pixels per pixel of a crop that stretches a box to a square, in the direction where this is larger. */
export function boxEnlargement({ x1, y1, x2, y2 }: Box, side: number): number {
  return Math.max(x2 - x1, y2 - y1) / side;
}

/** Writes a frame's 68 points in pixels of a crop, `box` stretched to `side` × `side`. */
export function writeCropLandmarks(
  landmarks: Float32Array,
  frame: number,
  { x1, y1, x2, y2 }: Box,
  side: number,
  target: Float32Array,
  offset: number,
): void {
  const at = frame * LANDMARK_VALUES;
  for (let i = 0; i < LANDMARK_VALUES; i += 2) {
    target[offset + i] = (((landmarks[at + i] ?? 0) - x1) / (x2 - x1)) * side;
    target[offset + i + 1] = (((landmarks[at + i + 1] ?? 0) - y1) / (y2 - y1)) * side;
  }
}
