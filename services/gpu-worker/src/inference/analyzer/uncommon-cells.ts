import { ALIGNED_CELLS, ALIGNED_SIDE, grown } from './aligned-face';
import {
  type AlignedLook,
  colorDistance,
  type CoverReference,
  levelOf,
  lumaChroma,
  mouthCells,
  relight,
} from './cover-reference';

const NOSE_TIP = 30;

/** What differs by less is noise; on top of it a cell may differ by so many times the spread of its usual colors. */
const NOISE = 10;
const SPREADS = 1.8;

/** A cover may go on where it differs by this part of what makes a cell uncommon. */
const GOES_ON = 0.7;

/** How far lips, cheeks and chin move over the skull that the cells are aligned with, in cells. */
const MOVES = { right: 2, down: 3 };

/** By what part more is common for every cell that the tip of the nose is away: a turned head is lit otherwise. */
const LIT_OTHERWISE = 0.3;

/** Cells by which the sides of the face move when the tip of the nose moves by one. */
const TURNED = 2;

/** So many cells along the border of the face say nothing, and so many more for each that the tip of the nose is away. */
const BORDER = 2;
const BORDER_OF_TURNED = 1.5;

/**
 * The fewest uncommon cells of a cover. Those of the mouth, which shows teeth, tongue and shadow now and then, count less,
 * and a cover lies on the skin around it too.
 */
const SMALLEST = 25;
const SMALLEST_ON_SKIN = 8;
const MOUTH_COUNTS = 0.3;

/** Share of a cover's cells that are uncommon. A shadow fades, a thing has an edge. */
const SOLID = 0.5;

/** The cells in which a look shows what the face does not usually show, 1 each; null if there is no such thing. */
export function uncommonCells(look: AlignedLook, reference: CoverReference): Uint8Array | null {
  const { face, upper, level } = reference;
  const colors = lumaChroma(look.colors);
  relight(colors, levelOf(colors, upper), level);
  const turned = {
    x: Math.abs((look.landmarks[NOSE_TIP * 2] ?? 0) - reference.nose.x),
    y: Math.abs((look.landmarks[NOSE_TIP * 2 + 1] ?? 0) - reference.nose.y),
  };
  const reach = {
    right: MOVES.right + Math.round(TURNED * turned.x),
    down: MOVES.down + Math.round(TURNED * turned.y),
  };
  const away = Math.max(turned.x, turned.y);
  const unlike = unlikeness(colors, reference, reach, 1 + LIT_OTHERWISE * away);
  const inner = grown(face, -BORDER - Math.floor(BORDER_OF_TURNED * away));
  const mouth = grown(mouthOf(look, reference), 2);
  const cells = new Uint8Array(ALIGNED_CELLS);
  let isCovered = false;
  for (const part of connectedParts(unlike)) {
    let skin = 0;
    let inMouth = 0;
    let faint = 0;
    for (const cell of part) {
      if (inner[cell] !== 1) continue;
      if ((unlike[cell] ?? 0) <= 1) faint++;
      else if (mouth[cell] === 1) inMouth++;
      else skin++;
    }
    if (skin < SMALLEST_ON_SKIN || skin + MOUTH_COUNTS * inMouth < SMALLEST) continue;
    if (skin + inMouth < SOLID * (skin + inMouth + faint)) continue;
    for (const cell of part) cells[cell] = 1;
    isCovered = true;
  }
  return isCovered ? grown(cells, 2) : null;
}

/** The cells of the mouth, where it is in this look and where it usually is. */
export const mouthOf = (look: AlignedLook, { mouth }: CoverReference): Uint8Array =>
  mouthCells(look.landmarks).map((cell, i) => cell | (mouth[i] ?? 0));

/**
 * Per cell, how much it differs from all that the face usually shows there and as far around it as it moves, as a
 * multiple of what is common.
 */
function unlikeness(
  colors: Float32Array,
  { colors: usual, spread, around }: CoverReference,
  reach: typeof MOVES,
  tolerance: number,
): Float32Array {
  const unlike = new Float32Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    if (around[cell] !== 1) continue;
    const common = tolerance * (NOISE + SPREADS * (spread[cell] ?? 0));
    let least = colorDistance(colors, cell * 3, usual, cell * 3);
    const column = cell % ALIGNED_SIDE;
    for (let down = -reach.down; down <= reach.down && least > GOES_ON * common; down++) {
      for (let right = -reach.right; right <= reach.right; right++) {
        const other = cell + down * ALIGNED_SIDE + right;
        if (column + right < 0 || column + right >= ALIGNED_SIDE || around[other] !== 1) continue;
        least = Math.min(least, colorDistance(colors, cell * 3, usual, other * 3));
      }
    }
    unlike[cell] = least / common;
  }
  return unlike;
}

/** The connected parts of the cells that may belong to a cover. */
function connectedParts(unlike: Float32Array): number[][] {
  const parts: number[][] = [];
  const taken = new Uint8Array(ALIGNED_CELLS);
  for (let start = 0; start < ALIGNED_CELLS; start++) {
    if (taken[start] === 1 || (unlike[start] ?? 0) <= GOES_ON) continue;
    const part = [start];
    taken[start] = 1;
    for (const cell of part) {
      for (const beside of [cell - 1, cell + 1, cell - ALIGNED_SIDE, cell + ALIGNED_SIDE]) {
        if (taken[beside] !== 0 || (unlike[beside] ?? 0) <= GOES_ON) continue;
        taken[beside] = 1;
        part.push(beside);
      }
    }
    parts.push(part);
  }
  return parts;
}
