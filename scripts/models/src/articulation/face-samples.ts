import { landmark, landmarkCenter, LEFT_EYE, RIGHT_EYE } from '@lipsync/engines';
import { type Picture } from './pictures';

/** A place on a face, in eye distances from the base of the nose: along the eyes and down the face. */
export interface FacePlace {
  readonly along: number;
  readonly down: number;
}

/** Reads a picture in places of the face that its 136 landmark values describe. */
export interface FaceSamples {
  placeOf: (landmarkNumber: number) => FacePlace;
  /** Brightness above black, and how much redder than gray: levels, between pixels in proportion. */
  brightness: (place: FacePlace) => number;
  redness: (place: FacePlace) => number;
}

const NOSE_BASE = 33;
const [BLACK, GRAY] = [16, 128];

export function sampleFace({ width, height, data }: Picture, landmarks: Float32Array): FaceSamples {
  const [left, right] = [landmarkCenter(landmarks, LEFT_EYE), landmarkCenter(landmarks, RIGHT_EYE)];
  const [x, y] = [right.x - left.x, right.y - left.y];
  const eyes = x ** 2 + y ** 2;
  const nose = landmark(landmarks, NOSE_BASE);
  const [halfWidth, halfHeight] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const luma = plane(data, 0, width, height);
  const red = plane(data, width * height + halfWidth * halfHeight, halfWidth, halfHeight);
  const across = ({ along, down }: FacePlace): number => nose.x + along * x - down * y;
  const downwards = ({ along, down }: FacePlace): number => nose.y + along * y + down * x;
  return {
    placeOf: (number) => {
      const point = landmark(landmarks, number);
      const [dx, dy] = [point.x - nose.x, point.y - nose.y];
      return { along: (dx * x + dy * y) / eyes, down: (dy * x - dx * y) / eyes };
    },
    brightness: (place) => luma(across(place), downwards(place)) - BLACK,
    redness: (place) => red(across(place) / 2, downwards(place) / 2) - GRAY,
  };
}

/** Reads one plane between its samples, and at its edge what is nearest. */
function plane(data: Uint8Array, start: number, width: number, height: number) {
  const at = (x: number, y: number): number => data[start + y * width + x] ?? 0;
  return (x: number, y: number): number => {
    const x0 = Math.min(width - 2, Math.max(0, Math.floor(x)));
    const y0 = Math.min(height - 2, Math.max(0, Math.floor(y)));
    const [right, below] = [Math.min(1, Math.max(0, x - x0)), Math.min(1, Math.max(0, y - y0))];
    const upper = at(x0, y0) + right * (at(x0 + 1, y0) - at(x0, y0));
    const lower = at(x0, y0 + 1) + right * (at(x0 + 1, y0 + 1) - at(x0, y0 + 1));
    return upper + below * (lower - upper);
  };
}
