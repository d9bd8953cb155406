import { type Box } from './box';
import { fillPolygon } from './fill-polygon';
import { blurLines, gaussianKernel } from './gaussian-blur';

/** Cells per side of a mask; blurred masks need no more, the paste interpolates between cells. */
export const MASK_SIZE = 128;

/** How much of the generated face to show at each cell of its box: [MASK_SIZE, MASK_SIZE] in [0, 1], rows downwards. */
export type BlendMask = Float32Array;

/** The face outline below the nose, as indices of the 68 landmarks: jaw line, then back along the nose base. */
const OUTLINE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 35, 34, 33, 32, 31];

/**
 * The soft mask under which a generated face is blended into its frame: the face below the nose base, lower half of
 * the box only, feathered in proportion to the face (k = ⌊0.05·W/2⌋·2 + 1 with W = 1.5 × the longer side of the box).
 * It depends on the source frame only. `landmarks` are 68 (x, y) pairs in picture pixels.
 */
export function blendMask(landmarks: Float32Array, box: Box): BlendMask {
  const width = box.x2 - box.x1;
  const height = box.y2 - box.y1;
  const feather = Math.floor((0.05 * 1.5 * Math.max(width, height)) / 2) * 2 + 1;
  const polygon = new Float32Array(OUTLINE.length * 2);
  OUTLINE.forEach((landmark, i) => {
    polygon[2 * i] = (((landmarks[2 * landmark] ?? 0) - box.x1) / width) * MASK_SIZE;
    polygon[2 * i + 1] = (((landmarks[2 * landmark + 1] ?? 0) - box.y1) / height) * MASK_SIZE;
  });
  const mask = new Float32Array(MASK_SIZE * MASK_SIZE);
  const between = new Float32Array(MASK_SIZE * MASK_SIZE);
  fillPolygon(mask, MASK_SIZE, polygon, MASK_SIZE / 2);
  blurLines(mask, between, MASK_SIZE, 'rows', gaussianKernel(feather, MASK_SIZE / width));
  blurLines(between, mask, MASK_SIZE, 'columns', gaussianKernel(feather, MASK_SIZE / height));
  return mask;
}
