import {
  type Affine,
  inpaintMask,
  type MaskSpans,
  type PictureFormat,
  pictureLayout,
  softMask,
} from '@lipsync/lipsync';

/** A picture with a rotated face, and the generated face to paste. */
export interface AlignedScene {
  readonly format: PictureFormat;
  readonly picture: Uint8Array<ArrayBuffer>;
  /** The transform from the picture to the crop. */
  readonly transform: Affine;
  readonly mask: Float32Array;
  /** [3, side, side] in [-1, 1]. */
  readonly face: Float32Array<ArrayBuffer>;
  readonly side: number;
}

/** Sides of LatentSync's crop in units of the face's width from ear to ear. */
const CROP_WIDTH = 1.21;
const CROP_HEIGHT = 1.61;
/** Tilt of the head in radians. */
const TURN = 0.05;

/** The lower 5/9 of the crop except for a margin: roughly the part that LatentSync generates. */
const GENERATED: MaskSpans = {
  size: 256,
  spans: Array.from({ length: 144 }, (_, row): [number, number, number] => {
    const margin = 10 + Math.round((row / 144) ** 4 * 60);
    return [98 + row, margin, 255 - margin];
  }),
};

/** A face of this width, in pixels, in the upper middle of a picture. */
export function createAlignedScene(
  { width, height }: { readonly width: number; readonly height: number },
  faceWidth: number,
  side: number,
): AlignedScene {
  const format: PictureFormat = { width, height, matrix: 'bt709', range: 'limited' };
  const { bytes } = pictureLayout(format);
  const [cos, sin] = [Math.cos(TURN), Math.sin(TURN)];
  const across = side / (CROP_WIDTH * faceWidth);
  const down = side / (CROP_HEIGHT * faceWidth);
  const [x, y] = [width / 2 + 0.3, height * 0.45 + 0.7];
  const [a, b, d, e] = [across * cos, across * sin, -down * sin, down * cos];
  return {
    format,
    picture: Uint8Array.from({ length: bytes }, (_, i) => 90 + 60 * Math.sin(i / 57) + (i % 31)),
    transform: { a, b, c: side / 2 - a * x - b * y, d, e, f: side / 2 - d * x - e * y },
    mask: softMask(inpaintMask(GENERATED, side), side),
    face: Float32Array.from({ length: 3 * side * side }, (_, i) => Math.sin(i / 83)),
    side,
  };
}
