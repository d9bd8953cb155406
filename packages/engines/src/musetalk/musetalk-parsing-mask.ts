import { type ElementRow, type SpreadCells } from './spread-cells';

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
export type ParsingMask = (classes: Uint8Array, mask: Uint8Array) => void;

/**
 * The part of a face that MuseTalk replaces, derived from the classes of its pixels (github.com/TMElyralab/MuseTalk,
 * face_parsing). 'raw' is skin, lips and the inside of the mouth; 'neck' includes the neck. 'jaw' grows the skin,
 * mostly upwards, erodes the sides of the face again, and leaves the nose out. The sizes are meant for a map of 512
 * cells.
 */
export function createParsingMask(
  side: number,
  { mode, leftCheek, rightCheek }: ParsingMaskSettings,
  spread: SpreadCells,
): ParsingMask {
  if (mode !== 'jaw') {
    const kept = new Set(mode === 'neck' ? [SKIN, ...LIPS, NECK] : [SKIN, ...LIPS]);
    return (classes, mask) => classes.forEach((name, i) => (mask[i] = kept.has(name) ? 1 : 0));
  }

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
