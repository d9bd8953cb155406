/** Which part of a parsed face is generated, see `createParsingMask`. */
export interface ParsingMaskSettings {
  readonly mode: 'raw' | 'neck' | 'jaw';
  /** Cells from the middle of the map to where the sides of the face begin ('jaw' only). */
  readonly leftCheek: number;
  readonly rightCheek: number;
}

/** Classes of the face parser that was trained on CelebAMask-HQ. */
const SKIN = 1;
const NOSE = 10;
const MOUTH_INSIDE = 11;
const UPPER_LIP = 12;
const LOWER_LIP = 13;
const NECK = 14;
const LIPS = [MOUTH_INSIDE, UPPER_LIP, LOWER_LIP];

/** A row of a structuring element, `dy` rows below its middle, with the columns up to `reach` on both sides. */
interface ElementRow {
  readonly dy: number;
  readonly reach: number;
}

/**
 * A cone on a stem, 33 cells high with its middle at 16: a skin cell grows 16 cells upwards, 10 to both sides and 6
 * downwards to a point. Narrow rows first, as in every element.
 */
const GROWTH: readonly ElementRow[] = Array.from({ length: 23 }, (_, i) => ({
  dy: i - 6,
  reach: Math.min(i, 10),
}));

/** The flat ellipse of 35 × 3 cells, as OpenCV draws it. */
const CHEEK: readonly ElementRow[] = [
  { dy: -1, reach: 0 },
  { dy: 1, reach: 0 },
  { dy: 0, reach: 17 },
];

/** Rows above and below a row that its cells depend on: those that erode it, and those from where skin grows into it. */
export const PARSING_REACH = { above: 8, below: 18 } as const;

/** Writes a map of 0 and 1, as large as the classes: the whole map, or some of its rows. */
type ParsingMask = (classes: Uint8Array, mask: Uint8Array) => void;

/**
 * The part of a face that MuseTalk replaces, derived from the classes of its pixels (github.com/TMElyralab/MuseTalk,
 * face_parsing). 'raw' is skin, lips and the inside of the mouth; 'neck' includes the neck. 'jaw' grows the skin,
 * mostly upwards, erodes the sides of the face again, and leaves the nose out. The sizes are meant for a map of 512
 * cells; `side` is a multiple of 32. Without the rows around them, rows are wrong that are nearer than PARSING_REACH.
 */
export function createParsingMask(
  side: number,
  { mode, leftCheek, rightCheek }: ParsingMaskSettings,
): ParsingMask {
  if (mode !== 'jaw') {
    const isKept = lookup(mode === 'neck' ? [SKIN, ...LIPS, NECK] : [SKIN, ...LIPS]);
    return (classes, mask) => classes.forEach((name, i) => (mask[i] = isKept[name] ?? 0));
  }

  const isLip = lookup(LIPS);
  const isSkin = lookup([SKIN]);
  const mayBeFace = lookup([NOSE]).map((nose) => 1 - nose);
  const words = side / WORD;
  const whole = { skin: createBitMap(side), grown: createBitMap(side), narrowed: createBitMap(side) };
  const spread = createSpread(side);
  const middle = middleOf(words, side / 2 - leftCheek, side / 2 + rightCheek);
  /** Spreads what is outside. Cells outside the map do not count as such. */
  const erode = (map: BitMap): void => {
    invert(map);
    spread(map, CHEEK, map);
    invert(map);
  };

  return (classes, mask) => {
    const size = classes.length / WORD;
    const [skin, grown] = [whole.skin.subarray(0, size), whole.grown.subarray(0, size)];
    const narrowed = whole.narrowed.subarray(0, size);
    for (let word = 0; word < skin.length; word++) skin[word] = wordOf(classes, word * WORD, isSkin);
    spread(skin, GROWTH, grown);
    narrowed.set(grown);
    erode(narrowed);
    erode(narrowed);
    for (let word = 0; word < grown.length; word++) {
      const wide = middle[word % words] ?? 0;
      const face = ((grown[word] ?? 0) & wide) | ((narrowed[word] ?? 0) & ~wide);
      for (let bit = 0; bit < WORD; bit++) {
        const i = word * WORD + bit;
        const name = classes[i] ?? 0;
        mask[i] = (isLip[name] ?? 0) | ((face >>> bit) & (mayBeFace[name] ?? 0));
      }
    }
  };
}

/** 1 at the index of each of these classes, 0 at the others. */
function lookup(classes: readonly number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const name of classes) table[name] = 1;
  return table;
}

/** A square map of bits or its first rows, row by row, 32 cells to a word: growing takes one operation for all of them. */
type BitMap = Uint32Array;

const WORD = 32;

const createBitMap = (side: number): BitMap => new Uint32Array((side * side) / WORD);

/** The 32 cells from `from` on whose classes are in the table. */
function wordOf(classes: Uint8Array, from: number, table: Uint8Array): number {
  let word = 0;
  for (let bit = 0; bit < WORD; bit++) word |= (table[classes[from + bit] ?? 0] ?? 0) << bit;
  return word;
}

/** A row of bits: the columns right of `lastLeft` and left of `firstRight`. */
function middleOf(words: number, lastLeft: number, firstRight: number): BitMap {
  const row = new Uint32Array(words);
  for (let column = 0; column < words * WORD; column++) {
    if (column <= lastLeft || column >= firstRight) continue;
    row[column >>> 5] = (row[column >>> 5] ?? 0) | (1 << (column & 31));
  }
  return row;
}

function invert(map: BitMap): void {
  for (let i = 0; i < map.length; i++) map[i] = ~(map[i] ?? 0);
}

/** Sets each cell of `target` in whose place the element touches a cell of the map. `target` may be the map. */
type Spread = (map: BitMap, element: readonly ElementRow[], target: BitMap) => void;

function createSpread(side: number): Spread {
  const words = side / WORD;
  const whole = createBitMap(side);
  return (map, element, target) => {
    const widened = whole.subarray(0, map.length);
    widened.set(map);
    target.fill(0);
    let width = 0;
    for (const { dy, reach } of element) {
      while (width < reach) {
        // No wider, or a gap would be left at the borders of the map.
        const step = Math.min(reach - width, width + 1);
        widen(widened, words, step);
        width += step;
      }
      const first = Math.max(0, -dy) * words;
      const end = Math.min(map.length, map.length - dy * words);
      const shift = dy * words;
      for (let i = first; i < end; i++) target[i] = (target[i] ?? 0) | (widened[i + shift] ?? 0);
    }
  };
}

/** Every cell also sets those `by` columns to its left and right, fewer than a word has. */
function widen(map: BitMap, words: number, by: number): void {
  const rest = WORD - by;
  for (let row = 0; row < map.length; row += words) {
    let left = 0;
    for (let i = row; i < row + words; i++) {
      const word = map[i] ?? 0;
      const right = i + 1 < row + words ? (map[i + 1] ?? 0) : 0;
      map[i] = word | (word << by) | (left >>> rest) | (word >>> by) | (right << rest);
      left = word;
    }
  }
}
