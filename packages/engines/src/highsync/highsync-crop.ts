import { type Box } from '@lipsync/kernels';

/** Margin on either side of the face, as a fraction of its width. */
const SIDE_MARGIN = 0.1;
/** From the upper edge of the face to the lower edge of the crop, as a fraction of the height. */
const REACH_DOWN = 1.1;

/**
 * The part of the picture that HighSync sees for a face with this box and height. As in HighSync it ends at the border
 * of the picture. Unlike there, its corners are not rounded to pixels, which would jitter.
 */
export function highsyncCrop(
  face: Box,
  height: number,
  picture: { readonly width: number; readonly height: number },
): Box {
  const margin = SIDE_MARGIN * (face.x2 - face.x1);
  return {
    x1: Math.max(0, face.x1 - margin),
    y1: Math.max(0, face.y1),
    x2: Math.min(picture.width, face.x2 + margin),
    y2: Math.min(picture.height, face.y1 + REACH_DOWN * height),
  };
}
