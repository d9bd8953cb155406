import { type Affine, createAlignedCrop, type PictureFormat } from '@lipsync/kernels';
import { type FaceTrack } from './face-track';
import { distance, landmark, LANDMARK_VALUES, landmarkCenter, LEFT_EYE, RIGHT_EYE } from './landmarks';

/** Pictures of a clip's own mouth in one look of its face, from which a generator may take lips and teeth. */
export interface MouthExemplars {
  /** [EXEMPLARS, 3, EXEMPLAR_SIDE, EXEMPLAR_SIDE]: planes R, G, B, by rising opening of the mouth. */
  readonly pictures: Uint8Array;
  /** [EXEMPLARS, 68, 2]: the landmarks of each picture's frame, in pixels of the picture. */
  readonly landmarks: Float32Array;
}

/** Number of pictures. A clip with fewer different mouths repeats some. */
export const EXEMPLARS = 8;

/** Side of a picture in pixels. */
export const EXEMPLAR_SIDE = 256;

/** Bytes of one picture. */
export const EXEMPLAR_BYTES = 3 * EXEMPLAR_SIDE ** 2;

/** For a face that shows no mouth to keep: zeros. */
export const NO_MOUTHS: MouthExemplars = {
  pictures: new Uint8Array(EXEMPLARS * EXEMPLAR_BYTES),
  landmarks: new Float32Array(EXEMPLARS * LANDMARK_VALUES),
};

/** A clip's own mouth in each look of its face, which may still be cut out of it. */
export type OwnMouths = readonly MouthExemplars[] | Promise<readonly MouthExemplars[]>;

/** The mouth of the look that the face wears in this frame; NO_MOUTHS for a clip without pictures. */
export async function mouthsAt(
  { track, mouths }: { readonly track: Pick<FaceTrack, 'looks'>; readonly mouths: OwnMouths },
  frame: number,
): Promise<MouthExemplars> {
  return (await mouths)[track.looks[frame] ?? 0] ?? NO_MOUTHS;
}

/** The square that a picture shows of its frame. */
export interface MouthSquare {
  /** The middle between the corners of the mouth, pixels of the frame. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
  /** Clockwise slope of the line through the eyes, radians. */
  readonly angle: number;
}

/** Side of the square in distances of the eye centers: it reaches about the chin. */
const REACH = 1.6;

/** Corners of the mouth. */
export const LEFT_CORNER = 48;
export const RIGHT_CORNER = 54;

/** The square around the mouth of a face, upright as its eyes are level. Takes one frame's 136 landmark values. */
export function mouthSquare(landmarks: Float32Array): MouthSquare {
  const left = landmarkCenter(landmarks, LEFT_EYE);
  const right = landmarkCenter(landmarks, RIGHT_EYE);
  const from = landmark(landmarks, LEFT_CORNER);
  const to = landmark(landmarks, RIGHT_CORNER);
  return {
    x: (from.x + to.x) / 2,
    y: (from.y + to.y) / 2,
    side: REACH * distance(left, right),
    angle: Math.atan2(right.y - left.y, right.x - left.x),
  };
}

/** Maps a frame to the picture of its square. Coordinates in both count from the outer edge of the first pixel. */
function squareTransform({ x, y, side, angle }: MouthSquare): Affine {
  const a = (EXEMPLAR_SIDE / side) * Math.cos(angle);
  const b = (EXEMPLAR_SIDE / side) * Math.sin(angle);
  const middle = EXEMPLAR_SIDE / 2;
  return { a, b, c: middle - a * x - b * y, d: -b, e: a, f: middle + b * x - a * y };
}

/** A frame's 136 landmark values in pixels of the picture of its mouth. */
export function mouthLandmarks(landmarks: Float32Array): Float32Array {
  const { a, b, c, d, e, f } = squareTransform(mouthSquare(landmarks));
  const points = new Float32Array(LANDMARK_VALUES);
  for (let i = 0; i < LANDMARK_VALUES; i += 2) {
    const x = landmarks[i] ?? 0;
    const y = landmarks[i + 1] ?? 0;
    points[i] = a * x + b * y + c;
    points[i + 1] = d * x + e * y + f;
  }
  return points;
}

/** Cuts the picture of a mouth, [3, EXEMPLAR_SIDE, EXEMPLAR_SIDE], out of a frame with these landmarks. */
type CutMouth = (frame: Uint8Array, landmarks: Float32Array) => Uint8Array;

export function createCutMouth(format: PictureFormat): CutMouth {
  const crop = createAlignedCrop(format, EXEMPLAR_SIDE);
  const levels = new Float32Array(EXEMPLAR_BYTES);
  return (frame, landmarks) => {
    crop(frame, squareTransform(mouthSquare(landmarks)), levels, 0);
    const picture = new Uint8ClampedArray(EXEMPLAR_BYTES);
    for (let i = 0; i < picture.length; i++) picture[i] = ((levels[i] ?? 0) + 1) * 127.5;
    return new Uint8Array(picture.buffer);
  };
}
