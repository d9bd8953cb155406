import {
  BILINEAR,
  type Box,
  createCropFace,
  HALF_MASK_VALUES,
  MASK_SIZE,
  MASK_SQUARE,
  type PictureFormat,
} from '@lipsync/kernels';
import { createParsingMask, PARSING_REACH, type ParsingMaskSettings } from './parsing-mask';

/** Side of the input of the face parser, pixels. */
export const PARSING_SIDE = 512;

/** Normalization of the parser's input, R, G, B in [0, 1]: that of ImageNet. */
const MEAN = [0.485, 0.456, 0.406] as const;
const DEVIATION = [0.229, 0.224, 0.225] as const;

/** The same from [-1, 1]. */
const NORMALIZATION = DEVIATION.map((deviation, channel) => ({
  gain: 0.5 / deviation,
  term: (0.5 - (MEAN[channel] ?? 0)) / deviation,
}));

/** The square around a face box that is parsed: 1.5 times the longer side of the box. */
export function parsingSquare({ x1, y1, x2, y2 }: Box): Box {
  const half = (MASK_SQUARE * Math.max(x2 - x1, y2 - y1)) / 2;
  const x = (x1 + x2) / 2;
  const y = (y1 + y2) / 2;
  return { x1: x - half, y1: y - half, x2: x + half, y2: y + half };
}

/**
 * Cuts the square around a face out of a picture for a face parser (BiSeNet as MuseTalk uses it): [3, 512, 512]
 * planes R, G, B, bilinear, black outside the picture, normalized, at `offset` of `target`.
 */
type CropForParsing = (picture: Uint8Array, face: Box, target: Float32Array, offset: number) => void;

export function createCropForParsing(format: PictureFormat): CropForParsing {
  const crop = createCropFace(format, PARSING_SIDE, BILINEAR, NORMALIZATION);
  const area = PARSING_SIDE * PARSING_SIDE;
  return (picture, face, target, offset) => {
    const square = parsingSquare(face);
    crop(picture, square, target, offset);
    const columns = inside(square.x1, square.x2, format.width);
    const rows = inside(square.y1, square.y2, format.height);
    NORMALIZATION.forEach(({ gain, term }, channel) => {
      const plane = target.subarray(offset + channel * area, offset + (channel + 1) * area);
      const black = term - gain;
      plane.fill(black, 0, rows.first * PARSING_SIDE).fill(black, rows.end * PARSING_SIDE);
      for (let row = 0; row < area; row += PARSING_SIDE) {
        plane.fill(black, row, row + columns.first).fill(black, row + columns.end, row + PARSING_SIDE);
      }
    });
  };
}

/** The pixels of one axis of the square whose centers are inside the picture. */
function inside(from: number, to: number, length: number): { first: number; end: number } {
  const perPixel = (to - from) / PARSING_SIDE;
  const limit = (place: number): number =>
    Math.min(PARSING_SIDE, Math.max(0, Math.ceil((place - from) / perPixel - 0.5)));
  return { first: limit(0), end: limit(length) };
}

/**
 * Computes the lower half of a face's hard mask from the parser's output for the square around it: `classes` are
 * [512, 512], and the half is written to `half` at `offset`. Cells at the edge have a value between 0 and 1.
 */
type ParsedMask = (classes: Uint8Array, face: Box, half: Float32Array, offset: number) => void;

export function createParsedMask(settings: ParsingMaskSettings): ParsedMask {
  const maskOf = createParsingMask(PARSING_SIDE, settings);
  const mask = new Uint8Array(PARSING_SIDE * PARSING_SIDE);
  return (classes, face, half, offset) => {
    const { columns, rows } = lowerHalf(face);
    const seen = rows.at(-1)?.end ?? 0;
    const first = Math.max(0, PARSING_SIDE / 2 - PARSING_REACH.above) * PARSING_SIDE;
    const end = Math.min(PARSING_SIDE, seen + PARSING_REACH.below) * PARSING_SIDE;
    maskOf(classes.subarray(first, end), mask.subarray(first, end));
    let at = offset;
    for (const row of rows) for (const column of columns) half[at++] = meanOf(mask, column, row);
  };
}

/** A stretch of cells along one axis. Partly covered cells count by their length. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The first cell that it touches, and the one after the last. */
  readonly first: number;
  readonly end: number;
}

function stretchOf(from: number, to: number): Stretch {
  return { from, to, first: Math.floor(from), end: Math.ceil(to) };
}

/** The lower half of the face box in its square, by columns and rows of its grid. */
function lowerHalf(face: Box): { columns: Stretch[]; rows: Stretch[] } {
  const square = parsingSquare(face);
  const scale = PARSING_SIDE / (square.x2 - square.x1);
  const width = ((face.x2 - face.x1) * scale) / MASK_SIZE;
  const height = ((face.y2 - face.y1) * scale) / MASK_SIZE;
  const left = (face.x1 - square.x1) * scale;
  const middle = PARSING_SIDE / 2;
  const stretches = (count: number, start: number, size: number): Stretch[] =>
    Array.from({ length: count }, (_, i) => stretchOf(start + i * size, start + i * size + size));
  return {
    columns: stretches(MASK_SIZE, left, width),
    rows: stretches(HALF_MASK_VALUES / MASK_SIZE, middle, height),
  };
}

/** Mean over a rectangle inside the mask. */
function meanOf(mask: Uint8Array, across: Stretch, down: Stretch): number {
  // Most rectangles lie inside the face or outside it.
  let ones = 0;
  for (let y = down.first; y < down.end; y++)
    for (let x = across.first; x < across.end; x++) ones += mask[y * PARSING_SIDE + x] ?? 0;
  if (ones === 0) return 0;
  if (ones === (down.end - down.first) * (across.end - across.first)) return 1;

  let sum = 0;
  for (let y = down.first; y < down.end; y++) {
    const tall = Math.min(y + 1, down.to) - Math.max(y, down.from);
    for (let x = across.first; x < across.end; x++) {
      const wide = Math.min(x + 1, across.to) - Math.max(x, across.from);
      sum += (mask[y * PARSING_SIDE + x] ?? 0) * wide * tall;
    }
  }
  return sum / ((across.to - across.from) * (down.to - down.from));
}
