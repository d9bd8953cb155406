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
const LIPS: ReadonlySet<number> = new Set([MOUTH_INSIDE, UPPER_LIP, LOWER_LIP]);

/**
 * A cone on a stem, 33 cells high with its middle at 16: a skin cell grows 16 cells upwards, 10 to both sides and 6
 * downwards to a point.
 */
const GROWTH: readonly ElementRow[] = Array.from({ length: 23 }, (_, i) => ({
  dy: i - 6,
  reach: Math.min(i, 10),
}));

/** The flat ellipse of 35 × 3 cells, as OpenCV draws it. */
const CHEEK: readonly ElementRow[] = [
  { dy: -1, reach: 0 },
  { dy: 0, reach: 17 },
  { dy: 1, reach: 0 },
];

/** Writes a map of 0 and 1, as large as the classes. */
type ParsingMask = (classes: Uint8Array, mask: Uint8Array) => void;

/**
 * The part of a face that MuseTalk replaces, derived from the classes of its pixels (github.com/TMElyralab/MuseTalk,
 * face_parsing). 'raw' is skin, lips and the inside of the mouth; 'neck' includes the neck. 'jaw' grows the skin,
 * mostly upwards, erodes the sides of the face again, and leaves the nose out. The sizes are meant for a map of 512
 * cells.
 */
export function createParsingMask(
  side: number,
  { mode, leftCheek, rightCheek }: ParsingMaskSettings,
): ParsingMask {
  if (mode !== 'jaw') {
    const kept = new Set(mode === 'neck' ? [SKIN, ...LIPS, NECK] : [SKIN, ...LIPS]);
    return (classes, mask) => classes.forEach((name, i) => (mask[i] = kept.has(name) ? 1 : 0));
  }

  const spread = createSpreadCells(side);
  const grown = new Uint8Array(side * side);
  const narrowed = new Uint8Array(side * side);
  const gone = new Uint8Array(side * side);
  const lastLeft = side / 2 - leftCheek;
  const firstRight = side / 2 + rightCheek;
  /** `target` may be the map itself. */
  const erode = (map: Uint8Array, target: Uint8Array): void => {
    spread(map, 0, CHEEK, gone);
    for (let i = 0; i < gone.length; i++) target[i] = 1 - (gone[i] ?? 0);
  };

  return (classes, mask) => {
    for (let i = 0; i < classes.length; i++) mask[i] = classes[i] === SKIN ? 1 : 0;
    spread(mask, 1, GROWTH, grown);
    erode(grown, narrowed);
    erode(narrowed, narrowed);
    for (let i = 0; i < classes.length; i++) {
      const name = classes[i] ?? 0;
      const column = i % side;
      const face = column <= lastLeft || column >= firstRight ? narrowed[i] : grown[i];
      mask[i] = LIPS.has(name) || (face === 1 && name !== NOSE) ? 1 : 0;
    }
  };
}

/** A row of a structuring element, `dy` rows below its middle, with the columns up to `reach` on both sides. */
interface ElementRow {
  readonly dy: number;
  readonly reach: number;
}

/** Sets each cell of `target` to 1 if a cell of `value` is in the element around it, for a square map of 0 and 1. */
type SpreadCells = (
  map: Uint8Array,
  value: 0 | 1,
  element: readonly ElementRow[],
  target: Uint8Array,
) => void;

/**
 * Spreading the ones is a dilation; spreading the zeros is the complement of an erosion. Cells outside the map count as
 * neither. `target` must not be the map.
 */
function createSpreadCells(side: number): SpreadCells {
  /** Columns to the nearest cell of the value in the same row; FAR or more if there is none. */
  const distances = new Uint16Array(side * side);
  return (map, value, element, target) => {
    for (let row = 0; row < side; row++) measureRow(map, value, side, row, distances);
    target.fill(0);
    for (const { dy, reach } of element) {
      const first = Math.max(0, -dy) * side;
      const end = Math.min(side, side - dy) * side;
      const shift = dy * side;
      for (let i = first; i < end; i++) if ((distances[i + shift] ?? 0) <= reach) target[i] = 1;
    }
  };
}

/** Further than any element extends, and still a 16-bit number with a row added. */
const FAR = 0x7fff;

function measureRow(map: Uint8Array, value: number, side: number, row: number, distances: Uint16Array): void {
  const start = row * side;
  const end = start + side;
  let distance = FAR;
  for (let i = start; i < end; i++) {
    distance = map[i] === value ? 0 : distance + 1;
    distances[i] = distance;
  }
  distance = FAR;
  for (let i = end - 1; i >= start; i--) {
    distance = map[i] === value ? 0 : distance + 1;
    if (distance < (distances[i] ?? 0)) distances[i] = distance;
  }
}
