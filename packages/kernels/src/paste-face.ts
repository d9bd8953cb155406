import { planMemory, startKernels } from './kernels';
import { type BlendMask, INVISIBLE, MASK_SIZE } from './mask';
import {
  type Box,
  copyPictureRows,
  type PictureFormat,
  pictureLayout,
  placePicture,
  reservePicture,
  rgbToYuv,
  type Rows,
} from './picture';
import {
  aimGrid,
  BILINEAR,
  ENLARGEMENT,
  fillTable,
  LANCZOS,
  padded,
  reserveGrid,
  reserveTable,
  touchedRows,
} from './resampling';
import { placeTone, reserveTone } from './sdr-colors';

/**
 * Blends the [3, size, size] face (R, G, B in [-1, 1]) at `offset` of `faces` into `box` of a picture, weighted
 * by the mask: every pixel whose center lies in the box, and of a chroma sample the share that such pixels have in it.
 * Pixels where the mask is 0 keep their exact values; in pictures of ten bits also those that look like the face.
 */
export type PasteFace = (
  picture: Uint8Array,
  box: Box,
  faces: Float32Array,
  offset: number,
  mask: BlendMask,
) => void;

/**
 * Converts the face to codes of the picture's matrix and range at its own size, then spreads luma over the pixels, and
 * chroma over pairs of rows and columns, one sample each. Luma by Lanczos: straight lines between samples would take a
 * tenth to a half of the picture's sharpness, whether the face grows or shrinks. In pictures of ten bits all colors are
 * spread over the pixels, because the change of a color is only known beside the pixel that it replaces. The last line
 * of an odd-sized picture stays unchanged. `size` is a multiple of four.
 */
export function createPasteFace(format: PictureFormat, size: number): PasteFace {
  const { width, height } = format;
  const { chromaWidth, chromaHeight } = pictureLayout(format);
  const area = size * size;

  const plan = planMemory();
  const placed = reservePicture(plan, format);
  const face = plan.reserve(3 * area * 4);
  const maskCells = plan.reserve(MASK_SIZE * MASK_SIZE * 4);
  const sharp = reserveTable(plan, { ...LANCZOS, enlargement: ENLARGEMENT });
  const soft = reserveTable(plan, BILINEAR);
  const faceGrid = reserveGrid(plan, { width: size, height: size }, width, height);
  const chromaGrid = reserveGrid(plan, { width: size, height: size }, chromaWidth, chromaHeight);
  const maskGrid = reserveGrid(plan, { width: MASK_SIZE, height: MASK_SIZE }, width, height);
  const factors = plan.reserve(10 * 4);
  const reservedTone = reserveTone(plan, format);
  const scratch = plan.reserve(8 * padded(width) * 4 + (Math.max(size, MASK_SIZE) + 16) * 2);

  const kernels = startKernels(plan.bytes);
  fillTable(kernels, sharp);
  fillTable(kernels, soft);
  new Float32Array(kernels.memory, factors, 10).set(Object.values(rgbToYuv(format)));
  const words = new Int32Array(kernels.memory);
  const tone = placeTone(kernels, reservedTone);
  const copy = placePicture(kernels, placed, format);
  const faceCopy = new Float32Array(kernels.memory, face, 3 * area);
  const maskCopy = new Float32Array(kernels.memory, maskCells, MASK_SIZE * MASK_SIZE);

  return (picture, box, faces, offset, mask) => {
    const { left, top, columns, rows } = coveringPairs(shownPart(box, mask), format);
    if (columns <= 0 || rows <= 0) return;
    // The pairs as fractions of the box, which they may exceed by a pixel, then as cells of face and mask.
    const x = (left - box.x1) / (box.x2 - box.x1);
    const y = (top - box.y1) / (box.y2 - box.y1);
    const w = columns / (box.x2 - box.x1);
    const h = rows / (box.y2 - box.y1);
    const part = (side: number): Box => ({
      x1: x * side,
      y1: y * side,
      x2: (x + w) * side,
      y2: (y + h) * side,
    });
    aimGrid(kernels, faceGrid, sharp, part(size), columns, rows);
    aimGrid(kernels, chromaGrid, soft, part(size), columns / 2, rows / 2);
    aimGrid(kernels, maskGrid, soft, part(MASK_SIZE), columns, rows);
    if (left < firstCenter(box.x1)) kernels.hideOutput(maskGrid.across, 0);
    if (left + columns > firstCenter(box.x2)) kernels.hideOutput(maskGrid.across, columns - 1);
    if (top < firstCenter(box.y1)) kernels.hideOutput(maskGrid.down, 0);
    if (top + rows > firstCenter(box.y2)) kernels.hideOutput(maskGrid.down, rows - 1);

    copyPictureRows(picture, copy, format, { from: top, to: top + rows });
    const shown = allRows(touchedRows(words, faceGrid), touchedRows(words, chromaGrid));
    const first = shown.from * size;
    const end = shown.to * size;
    for (let plane = 0; plane < 3 * area; plane += area) {
      faceCopy.set(faces.subarray(offset + plane + first, offset + plane + end), plane + first);
    }
    if (tone === 0) kernels.toYuv(face, 4 * area, first, end, factors);
    else kernels.colorsToFixed(face, 4 * area, first, end);
    const cells = touchedRows(words, maskGrid);
    const shownMask = { from: cells.from * MASK_SIZE, to: cells.to * MASK_SIZE };
    maskCopy.set(mask.subarray(shownMask.from, shownMask.to), shownMask.from);
    kernels.toFixed(maskCells, shownMask.from, shownMask.to);
    const from = [placed.address, left, top, face, size, faceGrid.across, faceGrid.down] as const;
    const by = [maskCells, MASK_SIZE, maskGrid.across, maskGrid.down, INVISIBLE] as const;
    if (tone === 0) kernels.pasteFace(...from, chromaGrid.across, chromaGrid.down, ...by, scratch);
    else kernels.pasteColors(...from, ...by, factors, tone, scratch);
    copyPictureRows(copy, picture, format, { from: top, to: top + rows });
  };
}

/** The part of the box where the mask shows anything, mostly its lower half without the sides. */
function shownPart(box: Box, mask: BlendMask): Box {
  const shown = shownCells(mask);
  const across = (box.x2 - box.x1) / MASK_SIZE;
  const down = (box.y2 - box.y1) / MASK_SIZE;
  // A cell is spread over its neighbors, and in small boxes over the neighboring pixels; and pixels are processed in
  // pairs.
  const reachX = Math.max(across, 1) + 2;
  const reachY = Math.max(down, 1) + 2;
  return {
    x1: Math.max(box.x1, box.x1 + shown.x1 * across - reachX),
    y1: Math.max(box.y1, box.y1 + shown.y1 * down - reachY),
    x2: Math.min(box.x2, box.x1 + shown.x2 * across + reachX),
    y2: Math.min(box.y2, box.y1 + shown.y2 * down + reachY),
  };
}

/** The bounds of the cells that show anything; inverted if there are none. */
function shownCells(mask: BlendMask): Box {
  let [x1, y1, x2, y2] = [MASK_SIZE, MASK_SIZE, 0, 0];
  for (let y = 0; y < MASK_SIZE; y++) {
    const row = y * MASK_SIZE;
    let first = 0;
    let last = MASK_SIZE - 1;
    while (first <= last && (mask[row + first] ?? 0) < INVISIBLE) first++;
    if (first > last) continue;
    while ((mask[row + last] ?? 0) < INVISIBLE) last--;
    x1 = Math.min(x1, first);
    x2 = Math.max(x2, last + 1);
    y1 = Math.min(y1, y);
    y2 = y + 1;
  }
  return { x1, y1, x2, y2 };
}

/** From the first to the last row of both. */
function allRows(a: Rows, b: Rows): Rows {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}

/** The first pixel whose center is not before this edge. */
const firstCenter = (edge: number): number => Math.ceil(edge - 0.5);

/** The pairs of columns and of rows, one chroma sample each, that hold all pixels of the box in the picture. */
function coveringPairs(box: Box, { width, height }: PictureFormat) {
  const left = Math.max(0, firstCenter(box.x1)) & ~1;
  const top = Math.max(0, firstCenter(box.y1)) & ~1;
  const right = Math.min(width & ~1, (firstCenter(box.x2) + 1) & ~1);
  const bottom = Math.min(height & ~1, (firstCenter(box.y2) + 1) & ~1);
  return { left, top, columns: right - left, rows: bottom - top };
}
