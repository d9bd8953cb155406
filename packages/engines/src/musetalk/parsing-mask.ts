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

/** Writes a map of 0 and 1, as large as the classes. */
type ParsingMask = (classes: Uint8Array, mask: Uint8Array) => void;

/**
 * The part of a face that MuseTalk replaces, derived from the classes of its pixels (github.com/TMElyralab/MuseTalk,
 * face_parsing). 'raw' is skin, lips and the inside of the mouth; 'neck' includes the neck. 'jaw' grows the skin,
 * mostly upwards, erodes the sides of the face again, and leaves the nose out. The sizes are meant for a map of 512
 * cells; `side` is a multiple of 32.
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
  const skin = createBitMap(side);
  const grown = createBitMap(side);
  const narrowed = createBitMap(side);
  const spread = createSpread(side);
  const lastLeft = side / 2 - leftCheek;
  const firstRight = side / 2 + rightCheek;
  /** Spreads what is outside. Cells outside the map do not count as such. */
  const erode = (map: BitMap): void => {
    invert(map);
    spread(map, CHEEK, map);
    invert(map);
  };

  return (classes, mask) => {
    skin.fill(0);
    for (let i = 0; i < classes.length; i++) if (classes[i] === SKIN) setBit(skin, i);
    spread(skin, GROWTH, grown);
    narrowed.set(grown);
    erode(narrowed);
    erode(narrowed);
    for (let i = 0; i < classes.length; i++) {
      const name = classes[i] ?? 0;
      const column = i % side;
      const face = bitAt(column <= lastLeft || column >= firstRight ? narrowed : grown, i);
      mask[i] = isLip[name] === 1 || (face === 1 && name !== NOSE) ? 1 : 0;
    }
  };
}

/** 1 at the index of each of these classes, 0 at the others. */
function lookup(classes: readonly number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const name of classes) table[name] = 1;
  return table;
}

/** A square map of bits, row by row, 32 cells to a word: growing takes one operation for all of them. */
type BitMap = Uint32Array;

const WORD = 32;

const createBitMap = (side: number): BitMap => new Uint32Array((side * side) / WORD);

function setBit(map: BitMap, cell: number): void {
  const word = cell >>> 5;
  map[word] = (map[word] ?? 0) | (1 << (cell & 31));
}

function bitAt(map: BitMap, cell: number): number {
  return ((map[cell >>> 5] ?? 0) >>> (cell & 31)) & 1;
}

function invert(map: BitMap): void {
  for (let i = 0; i < map.length; i++) map[i] = ~(map[i] ?? 0);
}

/** Sets each cell of `target` in whose place the element touches a cell of the map. `target` may be the map. */
type Spread = (map: BitMap, element: readonly ElementRow[], target: BitMap) => void;

function createSpread(side: number): Spread {
  const words = side / WORD;
  const widened = createBitMap(side);
  return (map, element, target) => {
    widened.set(map);
    target.fill(0);
    let width = 0;
    for (const { dy, reach } of element) {
      for (; width < reach; width++) widen(widened, words);
      const first = Math.max(0, -dy) * words;
      const end = Math.min(side, side - dy) * words;
      const shift = dy * words;
      for (let i = first; i < end; i++) target[i] = (target[i] ?? 0) | (widened[i + shift] ?? 0);
    }
  };
}

/** Every cell also sets its neighbors on both sides. */
function widen(map: BitMap, words: number): void {
  for (let row = 0; row < map.length; row += words) {
    let left = 0;
    for (let i = row; i < row + words; i++) {
      const word = map[i] ?? 0;
      const right = i + 1 < row + words ? (map[i + 1] ?? 0) : 0;
      map[i] = word | (word << 1) | (left >>> 31) | (word >>> 1) | (right << 31);
      left = word;
    }
  }
}
