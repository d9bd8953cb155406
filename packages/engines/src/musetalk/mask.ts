import { type BlendMask, type Box, createMaskSoftener, HALF_MASK_VALUES, MASK_SIZE } from '@lipsync/kernels';
import { type SourceFace } from './faces';
import { type MusetalkParams } from './manifest';

/** The masks of a clip's faces. */
export interface FaceMasks {
  /** The mask, if the clip has shown this source frame before. */
  find(sourceIndex: number): BlendMask | undefined;
  /**
   * Made from the parser's output if the pack has one, from the landmarks otherwise; `parsed` is [slots, maskValues].
   */
  get(face: SourceFace, parsed: Float32Array, slot: number): BlendMask;
}

/** Ten seconds of source frames whose masks are made only once while the clip loops: 16 MB. */
const CACHED_MASKS = 256;

/** `maskValues`: see `FaceFeatures`. */
export function createFaceMasks({ blur }: MusetalkParams['mask'], maskValues: number): FaceMasks {
  const soften = createMaskSoftener(blur);
  const outline = new Float32Array(HALF_MASK_VALUES);
  /** By source frame, the oldest first. */
  const masks = new Map<number, BlendMask>();
  return {
    find: (sourceIndex) => masks.get(sourceIndex),
    get({ sourceIndex, box, landmarks }, parsed, slot) {
      const found = masks.get(sourceIndex);
      if (found) return found;
      const mask = new Float32Array(MASK_SIZE * MASK_SIZE);
      if (maskValues > 0) {
        soften(parsed, slot * maskValues, box, mask);
      } else {
        outlineMask(landmarks, box, outline);
        soften(outline, 0, box, mask);
      }
      const [oldest = -1] = masks.keys();
      if (masks.size >= CACHED_MASKS) masks.delete(oldest);
      masks.set(sourceIndex, mask);
      return mask;
    },
  };
}

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

/** A closed polygon in grid units: x0, y0, x1, y1, … */
type Polygon = Float32Array;

/** A part of an array that holds rows of cells in sequence, the first at `offset`. */
interface Grid {
  readonly cells: Float32Array;
  readonly offset: number;
  readonly columns: number;
  readonly rows: number;
}

/** Sets the cells of a grid whose centers lie inside the polygon (even-odd rule) to 1. */
function fillPolygon({ cells, offset, columns, rows }: Grid, polygon: Polygon): void {
  const corners = polygon.length / 2;
  const crossings = new Float32Array(corners);
  for (let row = 0; row < rows; row++) {
    const y = row + 0.5;
    let count = 0;
    for (let i = 0; i < corners; i++) {
      const j = (i + 1) % corners;
      const xi = polygon[2 * i] ?? 0;
      const yi = polygon[2 * i + 1] ?? 0;
      const xj = polygon[2 * j] ?? 0;
      const yj = polygon[2 * j + 1] ?? 0;
      if (yi <= y === yj <= y) continue;
      crossings[count++] = xi + ((y - yi) / (yj - yi)) * (xj - xi);
    }
    const sorted = crossings.subarray(0, count).sort();
    const start = offset + row * columns;
    for (let pair = 0; pair + 1 < count; pair += 2) {
      const from = Math.max(0, Math.ceil((sorted[pair] ?? 0) - 0.5));
      const to = Math.min(columns, Math.ceil((sorted[pair + 1] ?? 0) - 0.5));
      if (to > from) cells.fill(1, start + from, start + to);
    }
  }
}
