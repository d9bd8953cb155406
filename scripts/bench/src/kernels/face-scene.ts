import {
  type BlendMask,
  type Box,
  createMaskSoftener,
  HALF_MASK_VALUES,
  MASK_SIZE,
  outlineMask,
  type PictureFormat,
  pictureLayout,
} from '@lipsync/lipsync';

/** A picture with a face box, and the generated face to paste. */
export interface FaceScene {
  readonly format: PictureFormat;
  readonly picture: Uint8Array<ArrayBuffer>;
  readonly box: Box;
  /** The 68 landmarks of the face in the box. */
  readonly landmarks: Float32Array;
  readonly mask: BlendMask;
  /** [3, side, side] in [-1, 1]. */
  readonly face: Float32Array<ArrayBuffer>;
  readonly side: number;
}

/** A face box 5/12 of the picture's height in its upper middle, at fractional pixels like real tracks. */
export function createFaceScene(width: number, height: number, side: number): FaceScene {
  const format: PictureFormat = { width, height, matrix: 'bt709', range: 'limited' };
  const { bytes } = pictureLayout(format);
  const size = (height * 5) / 12;
  const left = (width - size) / 2 + 0.3;
  const top = height / 4 + 0.7;
  const box = { x1: left, y1: top, x2: left + size, y2: top + size };
  const landmarks = jawAndNose(box);
  return {
    format,
    picture: Uint8Array.from({ length: bytes }, (_, i) => 90 + 60 * Math.sin(i / 57) + (i % 31)),
    box,
    landmarks,
    mask: createFaceMask()(landmarks, box),
    face: Float32Array.from({ length: 3 * side * side }, (_, i) => Math.sin(i / 83)),
    side,
  };
}

/** MuseTalk's mask of a face without a parser; the result is valid until the next call. */
export function createFaceMask(): (landmarks: Float32Array, box: Box) => BlendMask {
  const soften = createMaskSoftener(0.05);
  const half = new Float32Array(HALF_MASK_VALUES);
  const mask = new Float32Array(MASK_SIZE * MASK_SIZE);
  return (landmarks, box) => {
    outlineMask(landmarks, box, half);
    soften(half, 0, box, mask);
    return mask;
  };
}

/** A round jaw from ear to ear in the middle of the box, with the base of the nose below it. */
function jawAndNose({ x1, y1, x2, y2 }: Box): Float32Array {
  const points = new Float32Array(136);
  const put = (index: number, x: number, y: number): void =>
    points.set([x1 + x * (x2 - x1), y1 + y * (y2 - y1)], index * 2);
  for (let i = 0; i <= 16; i++) {
    const angle = Math.PI * (1 - i / 16);
    put(i, 0.5 + 0.47 * Math.cos(angle), 0.5 + 0.44 * Math.sin(angle));
  }
  for (let i = 31; i <= 35; i++) put(i, 0.5 + 0.05 * (i - 33), 0.6);
  return points;
}
