import { ALIGNED_CELLS, ALIGNED_SIDE, connectedParts, grown } from './aligned-face';
import { clothCells } from './cloth';
import {
  type AlignedLook,
  BORDER,
  colorDistance,
  type CoverReference,
  faceCells,
  levelOf,
  lumaChroma,
  mouthCells,
  relight,
} from './cover-reference';
import { darkLines, thinLines } from './thin-lines';

const NOSE_TIP = 30;

/** What differs by less is noise; on top of it a cell may differ by so many times the spread of its usual colors. */
const NOISE = 10;
const SPREADS = 1.8;

/** A cover goes on where cells differ by this part of what is uncommon. */
const GOES_ON = 0.7;

/** How far lips, cheeks and chin move over the skull that the cells are aligned with, in cells. */
const MOVES = { right: 2, down: 3 };

/** By what part more is common for every cell that the tip of the nose is away: a turned head is lit otherwise. */
const LIT_OTHERWISE = 0.3;

/** Cells by which the sides of the face move when the tip of the nose moves by one. */
const TURNED = 2;

/** So many more cells along the border of the face say nothing for each that the tip of the nose is away. */
const BORDER_OF_TURNED = 1.5;

/**
 * How uncommon a part is, added up over its cells on the skin and in the mouth, of which the latter count less: a mouth
 * shows teeth, tongue and shadow now and then, and what covers it lies on the skin around it too. A cell counts by what
 * it is above GOES_ON, up to MOST_UNCOMMON. A cover has so much in all, on the skin, and in one cell.
 */
const MOST_UNCOMMON = 2.5;
const MOUTH_COUNTS = 0.3;
const ENOUGH = 25;
const ENOUGH_ON_SKIN = 6;
const ENOUGH_IN_A_CELL = 1.6;

/**
 * The landmarks of a mouth lie around a microphone that hides all of it. What reaches so far beyond the face from there is
 * no open mouth.
 */
const ENOUGH_BEYOND = 25;

/** So much on the skin is a cover, however short the time for which it is seen. */
const SURE_ON_SKIN = 60;
const SURE_IN_A_CELL = 2;

/** A cover is widened by so many cells: its edge is half of it and half of the face. */
export const WIDENED = 2;

/** What a look shows that the face does not usually show. */
export interface UncommonCells {
  /** 1 in the cells that are covered. */
  readonly cells: Uint8Array;
  /** Whether these are a cover even if no other look shows one. */
  readonly sure: boolean;
  /** 1 in the cells in which a cover may go on that is known from another look. */
  readonly possible: Uint8Array;
}

/** Finds what lies before the face in a look: it differs from all that the face usually shows. */
export function uncommonCells(look: AlignedLook, reference: CoverReference): UncommonCells {
  const { face, upper, level } = reference;
  const colors = lumaChroma(look.colors);
  const ownLevel = levelOf(colors, upper);
  relight(colors, ownLevel, level);
  const turned = {
    x: Math.abs((look.landmarks[NOSE_TIP * 2] ?? 0) - reference.nose.x),
    y: Math.abs((look.landmarks[NOSE_TIP * 2 + 1] ?? 0) - reference.nose.y),
  };
  const moved = { right: Math.round(TURNED * turned.x), down: Math.round(TURNED * turned.y) };
  const reach = { right: MOVES.right + moved.right, down: MOVES.down + moved.down };
  const away = Math.max(turned.x, turned.y);
  const unlike = unlikeness(colors, reference, reach, 1 + LIT_OTHERWISE * away);
  const inner = grown(face, -BORDER - Math.floor(BORDER_OF_TURNED * away));
  const mouth = grown(mouthOf(look, reference), 2);
  const possible = new Uint8Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) possible[cell] = (unlike[cell] ?? 0) > GOES_ON ? 1 : 0;
  const cells = new Uint8Array(ALIGNED_CELLS);
  let sure = false;
  for (const part of connectedParts(possible)) {
    let [onSkin, inMouth, beyond, most] = [0, 0, 0, 0];
    for (const cell of part) {
      const value = unlike[cell] ?? 0;
      const counts = Math.min(value, MOST_UNCOMMON) - GOES_ON;
      if (face[cell] !== 1) beyond += counts;
      if (inner[cell] !== 1) continue;
      if (mouth[cell] === 1) inMouth += counts;
      else onSkin += counts;
      most = Math.max(most, value);
    }
    const all = onSkin + MOUTH_COUNTS * inMouth;
    const isOpenMouth = onSkin < ENOUGH_ON_SKIN && beyond < ENOUGH_BEYOND;
    if (isOpenMouth || all < ENOUGH || most <= ENOUGH_IN_A_CELL) continue;
    for (const cell of part) cells[cell] = 1;
    sure ||= onSkin >= SURE_ON_SKIN && most > SURE_IN_A_CELL;
  }
  // A turned head shows the border of the face where skin usually is: a line counts inside the look's own jaw.
  const jaw = grown(faceCells(look.landmarks), -1);
  const lines = thinLines(
    darkLines(look.colors, ownLevel, reference.around),
    reference.lines,
    inner.map((cell, i) => cell & (jaw[i] ?? 0) & (1 - (mouth[i] ?? 0))),
    { right: moved.right, down: 1 + moved.down },
  );
  const cloth = clothCells(colors, reference);
  const either = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((cell, i) => cell | (b[i] ?? 0));
  return {
    cells: grown(either(either(cells, lines.cells), cloth), WIDENED),
    sure: sure || cloth.includes(1),
    possible: either(possible, lines.possible),
  };
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
