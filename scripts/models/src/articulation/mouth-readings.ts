import { type Clock, secondsAt } from '@lipsync/domain';
import {
  type FaceTrack,
  landmark,
  landmarkCenter,
  landmarksAt,
  LEFT_EYE,
  MOUTH,
  mouthOpening,
  RIGHT_EYE,
} from '@lipsync/engines';

/** What the landmarks say about the mouth in one frame. All lengths are in distances of the eye centers. */
export interface MouthShape {
  /** Mean gap between the inner lips. */
  readonly opening: number;
  /** From corner to corner, outside. */
  readonly width: number;
  /** How far below the base of the nose the lower lip ends outside. */
  readonly lowerLip: number;
  /** The mouth's 20 points without the head's pose: x and y from the base of the nose along and across the eyes. */
  readonly points: readonly number[];
}

/** The mouth in a frame, and from when to when it is on screen, in seconds. */
export interface MouthReading extends MouthShape {
  readonly from: number;
  readonly to: number;
}

/** The shape of the mouth in every frame of a track; null where no face was found. */
export function mouthShapes(track: FaceTrack): (MouthShape | null)[] {
  return Array.from({ length: track.frames }, (_, frame) =>
    track.found[frame] === 1 ? readMouth(landmarksAt(track, frame)) : null,
  );
}

/** The shapes that the frames of a clip show, with the times of its clock. */
export function timed(shapes: readonly (MouthShape | null)[], clock: Clock): (MouthReading | null)[] {
  return shapes.map(
    (shape, frame) => shape && { ...shape, from: secondsAt(clock, frame), to: secondsAt(clock, frame + 1) },
  );
}

const NOSE_BASE = [31, 36] as const;
/** Places in MOUTH, outside: the corners, and the middle of the lower lip. */
const [LEFT, RIGHT, LOWER] = [0, 6, 9];

/** Takes one frame's 136 landmark values; null where the eyes are in one place. */
export function readMouth(landmarks: Float32Array): MouthShape | null {
  const [left, right] = [landmarkCenter(landmarks, LEFT_EYE), landmarkCenter(landmarks, RIGHT_EYE)];
  const eyes = Math.hypot(right.x - left.x, right.y - left.y);
  if (eyes === 0) return null;
  const [cos, sin] = [(right.x - left.x) / eyes, (right.y - left.y) / eyes];
  const nose = landmarkCenter(landmarks, NOSE_BASE);
  const [first, end] = MOUTH;
  const points = Array.from({ length: end - first }, (_, i) => {
    const { x, y } = landmark(landmarks, first + i);
    const [dx, dy] = [(x - nose.x) / eyes, (y - nose.y) / eyes];
    return { x: cos * dx + sin * dy, y: cos * dy - sin * dx };
  });
  const at = (place: number) => points[place] ?? { x: NaN, y: NaN };
  return {
    opening: mouthOpening(landmarks),
    width: Math.hypot(at(LEFT).x - at(RIGHT).x, at(LEFT).y - at(RIGHT).y),
    lowerLip: at(LOWER).y,
    points: points.flatMap(({ x, y }) => [x, y]),
  };
}
