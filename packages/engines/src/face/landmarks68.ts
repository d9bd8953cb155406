import { type Point } from '@lipsync/kernels';

/** Points of the iBUG-68 scheme. */
export const LANDMARK_COUNT = 68;

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
export function landmarkCentre(landmarks: Float32Array, [first, end]: readonly [number, number]): Point {
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
