import { FACE_TRACK_VERSION, type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';

export interface SyntheticFace {
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  /** Position of the face in pixels. */
  readonly box: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number };
  /** Default: all frames. */
  readonly hasFace?: (frame: number) => boolean;
}

type Shape = readonly (readonly [x: number, y: number])[];

const arc = (
  count: number,
  from: number,
  to: number,
  at: readonly [number, number],
  size: readonly [number, number],
): Shape =>
  Array.from({ length: count }, (_, i) => {
    const angle = from + ((to - from) * i) / (count - 1);
    return [at[0] + size[0] * Math.cos(angle), at[1] + size[1] * Math.sin(angle)];
  });
const ring = (count: number, at: readonly [number, number], size: readonly [number, number]): Shape =>
  arc(count + 1, Math.PI, 3 * Math.PI, at, size).slice(0, count);

/** The 68 points of an upright face with a closed mouth, in a unit square. */
const FACE: Shape = [
  ...arc(17, Math.PI, 0, [0.5, 0.4], [0.5, 0.55]),
  ...arc(5, Math.PI * 1.2, Math.PI * 1.8, [0.28, 0.22], [0.16, 0.06]),
  ...arc(5, Math.PI * 1.2, Math.PI * 1.8, [0.72, 0.22], [0.16, 0.06]),
  ...Array.from({ length: 4 }, (_, i) => [0.5, 0.3 + i * 0.075] as const),
  ...arc(5, Math.PI * 0.85, Math.PI * 0.15, [0.5, 0.53], [0.12, 0.04]),
  ...ring(6, [0.3, 0.32], [0.09, 0.035]),
  ...ring(6, [0.7, 0.32], [0.09, 0.035]),
  ...ring(12, [0.5, 0.72], [0.17, 0.06]),
  ...ring(8, [0.5, 0.72], [0.13, 0.008]),
];

/** The face track that the analyser would make for a face that never moves; the pictures need not show one. */
export function syntheticTrack({ frames, width, height, box, hasFace }: SyntheticFace): FaceTrack {
  const found = Uint8Array.from({ length: frames }, (_, frame) => (hasFace?.(frame) === false ? 0 : 1));
  const points = FACE.flatMap(([x, y]) => [box.x1 + x * (box.x2 - box.x1), box.y1 + y * (box.y2 - box.y1)]);
  const landmarks = new Float32Array(frames * LANDMARK_VALUES);
  found.forEach((present, frame) => {
    if (present === 0) return;
    landmarks.set(points, frame * LANDMARK_VALUES);
  });
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion: 'synthetic@1.0.0',
    fps: 25,
    frames,
    width,
    height,
    found,
    landmarks,
    cuts: Uint8Array.from({ length: frames }, (_, frame) => (frame === 0 ? 1 : 0)),
  };
}
