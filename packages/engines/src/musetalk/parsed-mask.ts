import { type Box, HALF_MASK_VALUES, MASK_SIZE } from '@lipsync/kernels';
import { createParsingMask, type ParsingMaskSettings } from './musetalk-parsing-mask';
import { PARSING_SIDE, parsingSquare } from './parsing-square';
import { createSpreadCells } from './spread-cells';

/**
 * Computes the lower half of a face's hard mask from the parser's output for the square around it: `scores` are
 * [classes, 512, 512], and the half is written to `half` at `offset`. Cells at the edge have a value between 0 and 1.
 */
export type ParsedMask = (scores: Float32Array, face: Box, half: Float32Array, offset: number) => void;

export function createParsedMask(settings: ParsingMaskSettings): ParsedMask {
  const area = PARSING_SIDE * PARSING_SIDE;
  const maskOf = createParsingMask(PARSING_SIDE, settings, createSpreadCells(PARSING_SIDE));
  const classes = new Uint8Array(area);
  const best = new Float32Array(area);
  const mask = new Uint8Array(area);
  return (scores, face, half, offset) => {
    likeliest(scores, classes, best);
    maskOf(classes, mask);
    lowerHalf(mask, face, half, offset);
  };
}

/** The class with the highest score in every cell; the first of equal ones. */
function likeliest(scores: Float32Array, classes: Uint8Array, best: Float32Array): void {
  const area = classes.length;
  classes.fill(0);
  best.set(scores.subarray(0, area));
  for (let name = 1; name < scores.length / area; name++) {
    const plane = name * area;
    for (let i = 0; i < area; i++) {
      const score = scores[plane + i] ?? 0;
      if (score <= (best[i] ?? 0)) continue;
      best[i] = score;
      classes[i] = name;
    }
  }
}

/** Cuts the lower half of the face box out of the square, as the mean over the area of every cell. */
function lowerHalf(mask: Uint8Array, face: Box, half: Float32Array, offset: number): void {
  const square = parsingSquare(face);
  const scale = PARSING_SIDE / (square.x2 - square.x1);
  const width = ((face.x2 - face.x1) * scale) / MASK_SIZE;
  const height = ((face.y2 - face.y1) * scale) / MASK_SIZE;
  const left = (face.x1 - square.x1) * scale;
  const middle = PARSING_SIDE / 2;
  for (let i = 0; i < HALF_MASK_VALUES; i++) {
    const x = left + (i % MASK_SIZE) * width;
    const y = middle + Math.floor(i / MASK_SIZE) * height;
    half[offset + i] = meanOf(mask, x, y, x + width, y + height);
  }
}

/** Mean over a rectangle inside the mask. Partly covered cells count by their area. */
function meanOf(mask: Uint8Array, x1: number, y1: number, x2: number, y2: number): number {
  let sum = 0;
  for (let y = Math.floor(y1); y < y2; y++) {
    const tall = Math.min(y + 1, y2) - Math.max(y, y1);
    for (let x = Math.floor(x1); x < x2; x++) {
      const wide = Math.min(x + 1, x2) - Math.max(x, x1);
      sum += (mask[y * PARSING_SIDE + x] ?? 0) * wide * tall;
    }
  }
  return sum / ((x2 - x1) * (y2 - y1));
}
