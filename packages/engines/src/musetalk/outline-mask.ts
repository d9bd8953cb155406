import { type Box, HALF_MASK_VALUES, MASK_SIZE } from '@lipsync/kernels';
import { fillPolygon } from './fill-polygon';

/** The face outline below the nose, as indices of the 68 landmarks: jaw line, then back along the nose base. */
const OUTLINE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 35, 34, 33, 32, 31];

/**
 * Writes the lower half of a hard mask, derived from landmarks alone, into `half` at `offset`: 1 for the face below the
 * nose base, otherwise 0. Used in place of a parsed face, see `createParsedMask`. `landmarks` are 68 (x, y) pairs in
 * picture pixels.
 */
export function outlineMask(landmarks: Float32Array, box: Box, half: Float32Array, offset = 0): void {
  const polygon = new Float32Array(OUTLINE.length * 2);
  const columns = MASK_SIZE / (box.x2 - box.x1);
  const rows = MASK_SIZE / (box.y2 - box.y1);
  OUTLINE.forEach((landmark, i) => {
    polygon[2 * i] = ((landmarks[2 * landmark] ?? 0) - box.x1) * columns;
    polygon[2 * i + 1] = ((landmarks[2 * landmark + 1] ?? 0) - box.y1) * rows - MASK_SIZE / 2;
  });
  half.fill(0, offset, offset + HALF_MASK_VALUES);
  fillPolygon({ cells: half, offset, columns: MASK_SIZE, rows: MASK_SIZE / 2 }, polygon);
}
