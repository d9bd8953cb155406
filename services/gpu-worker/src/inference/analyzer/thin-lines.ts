import { ALIGNED_CELLS, ALIGNED_SIDE, connectedParts } from './aligned-face';

/*
 * Finds strands of hair and other dark lines before a face. In the mean of three cells they are hardly darker than skin
 * in the shade, but each is darker than the skin on both sides of it. So are folds, which are shorter and less dark.
 */

/** What is less dark than this is grain or a wrinkle. All darkness is in parts of the face's lightness. */
const DARK = 0.06;

/**
 * A line that is before the face reaches over so many rows: lips, folds and shadows run across the face, hair hangs down
 * or blows. At least so many of its cells are before the face, and they are so dark on average.
 */
const LONG = 10;
const FEWEST_CELLS = 5;
const DARK_ON_AVERAGE = 0.22;

/** One dark place says no more than this. */
const DARKEST = 0.46;

/** A line that more of the face's looks show is its own, also one row away. */
const OFTEN = 0.58;

/** The steps along a line and from it to the skin beside it, for lines of four directions. */
const DIRECTIONS = [
  { along: 1, aside: 3 * ALIGNED_SIDE },
  { along: ALIGNED_SIDE, aside: 3 },
  { along: ALIGNED_SIDE + 1, aside: 2 * ALIGNED_SIDE - 2 },
  { along: ALIGNED_SIDE - 1, aside: 2 * ALIGNED_SIDE + 2 },
];
const BORDER = 4;

/**
 * Per cell, by how much it is darker than what lies three cells away to both sides of a line through it.
 *
 * @param rgb colors in aligned cells
 * @param level the face's lightness
 * @param among 1 in the cells that are looked at
 */
export function darkLines(rgb: Uint8Array, level: number, among: Uint8Array): Float32Array {
  const lightness = new Float32Array(ALIGNED_CELLS);
  for (let cell = 0, at = 0; cell < ALIGNED_CELLS; cell++, at += 3)
    lightness[cell] =
      (0.299 * (rgb[at] ?? 0) + 0.587 * (rgb[at + 1] ?? 0) + 0.114 * (rgb[at + 2] ?? 0)) / level;
  const dark = new Float32Array(ALIGNED_CELLS);
  for (const { along, aside } of DIRECTIONS) {
    const smooth = new Float32Array(ALIGNED_CELLS);
    for (let cell = along; cell < ALIGNED_CELLS - along; cell++)
      smooth[cell] =
        ((lightness[cell - along] ?? 0) + 2 * (lightness[cell] ?? 0) + (lightness[cell + along] ?? 0)) / 4;
    for (let row = BORDER; row < ALIGNED_SIDE - BORDER; row++) {
      const start = row * ALIGNED_SIDE;
      for (let cell = start + BORDER; cell < start + ALIGNED_SIDE - BORDER; cell++) {
        if (among[cell] !== 1) continue;
        const beside = Math.min(smooth[cell - aside] ?? 0, smooth[cell + aside] ?? 0);
        dark[cell] = Math.max(dark[cell] ?? 0, beside - (smooth[cell] ?? 0));
      }
    }
  }
  return dark;
}

/** Of the dark lines of some looks, those that the face has itself. */
export function usualLines(looks: readonly Float32Array[]): Float32Array {
  const rank = Math.floor(looks.length * (1 - OFTEN));
  const values = new Float32Array(looks.length);
  const usual = new Float32Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    for (let i = 0; i < looks.length; i++) values[i] = looks[i]?.[cell] ?? 0;
    // Most cells are no line in any look.
    if (values.some((value) => value > DARK)) usual[cell] = values.sort()[rank] ?? 0;
  }
  return usual;
}

/**
 * The lines before a face.
 *
 * @param lines the dark lines of a look
 * @param usual those of the face itself
 * @param inner 1 in the cells in which a line counts: those of the face without its border and its mouth
 * @param reach how far the face's own lines move, in cells
 */
export function thinLines(
  lines: Float32Array,
  usual: Float32Array,
  inner: Uint8Array,
  reach: { readonly right: number; readonly down: number },
): {
  /** 1 in the cells of lines that are a cover. */
  readonly cells: Uint8Array;
  /** 1 in the cells of all lines before the face, which are part of a cover if another look shows one there. */
  readonly possible: Uint8Array;
} {
  const darker = new Float32Array(ALIGNED_CELLS);
  const possible = new Uint8Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    if ((lines[cell] ?? 0) <= DARK) continue;
    const value = (lines[cell] ?? 0) - usualAround(usual, cell, reach.right, reach.down);
    if (value <= DARK) continue;
    darker[cell] = Math.min(DARKEST, value);
    possible[cell] = 1;
  }
  const cells = new Uint8Array(ALIGNED_CELLS);
  for (const part of connectedParts(possible)) {
    let [before, dark] = [0, 0];
    for (const cell of part) {
      if (inner[cell] !== 1) continue;
      before++;
      dark += darker[cell] ?? 0;
    }
    if (before < FEWEST_CELLS || dark < DARK_ON_AVERAGE * before || rowsOf(part) < LONG) continue;
    for (const cell of part) cells[cell] = 1;
  }
  // Beside the face, a line is that of its own border as soon as the head turns: there none goes on.
  return { cells, possible: possible.map((cell, i) => cell & (inner[i] ?? 0)) };
}

/** The darkest of the face's own lines that are so many cells away. */
function usualAround(usual: Float32Array, cell: number, right: number, down: number): number {
  const column = cell % ALIGNED_SIDE;
  const first = Math.max(-right, -column);
  const last = Math.min(right, ALIGNED_SIDE - 1 - column);
  let most = 0;
  for (let row = -down; row <= down; row++)
    for (let across = first; across <= last; across++)
      most = Math.max(most, usual[cell + row * ALIGNED_SIDE + across] ?? 0);
  return most;
}

/** Over how many rows these cells reach, which are connected. */
const rowsOf = (part: readonly number[]): number =>
  new Set(part.map((cell) => Math.floor(cell / ALIGNED_SIDE))).size;
