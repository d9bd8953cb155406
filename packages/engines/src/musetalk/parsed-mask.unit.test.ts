import { HALF_MASK_VALUES, MASK_SIZE } from '@lipsync/kernels';
import { createParsedMask } from './parsed-mask';

const SIDE = 512;
const CLASSES = 19;
/** The box is square, so the parsed square is 150 wide and begins 25 to the left and above. */
const face = { x1: 100, y1: 40, x2: 200, y2: 140 };

/** Scores with one highest class for every cell. */
function scores(nameAt: (x: number, y: number) => number): Float32Array {
  const out = new Float32Array(CLASSES * SIDE * SIDE).fill(-3);
  for (let i = 0; i < SIDE * SIDE; i++) out[nameAt(i % SIDE, Math.floor(i / SIDE)) * SIDE * SIDE + i] = 0.5;
  return out;
}

function halfOf(nameAt: (x: number, y: number) => number, box = face): (x: number, y: number) => number {
  const half = new Float32Array(HALF_MASK_VALUES + 1).fill(9);
  createParsedMask({ mode: 'raw', leftCheek: 90, rightCheek: 90 })(scores(nameAt), box, half, 1);
  expect(half[0]).toBe(9);
  return (x, y) => half[1 + y * MASK_SIZE + x] ?? NaN;
}

test('the lower half of the face box is cut out of the parsed square', () => {
  // In the square the box extends from 85.3 to 426.7 on both axes. Skin fills its right half and everything above its
  // middle.
  const at = halfOf((x, y) => (x >= 256 || y < 256 ? 1 : 0));
  for (const y of [0, 31, 63]) {
    [0, 63, 64, 127].forEach((x) => expect(at(x, y)).toBeCloseTo(x < 64 ? 0 : 1));
  }
});

test('a cell at an edge gets the fraction of its area that is face', () => {
  // A cell is 2.667 wide: of the cell from 256 to 258.667, 1 in 2.667 is outside.
  const at = halfOf((x) => (x >= 257 ? 1 : 0));
  expect(at(64, 10)).toBeCloseTo(1.6667 / 2.6667, 3);
});

test('a narrow face fills the grid from edge to edge', () => {
  const narrow = { x1: 125, y1: 40, x2: 175, y2: 140 };
  // Half as wide as high: from 170.7 to 341.3 of the square.
  const at = halfOf((x) => (x >= 171 && x <= 340 ? 1 : 0), narrow);
  expect(at(1, 20)).toBeCloseTo(1);
  expect(at(126, 20)).toBeCloseTo(1);
  expect(at(0, 20)).toBeGreaterThan(0.5);
});

test('the first of equal scores counts, and the highest one wins at any position', () => {
  const all = new Float32Array(CLASSES * SIDE * SIDE);
  const half = new Float32Array(HALF_MASK_VALUES);
  const mask = createParsedMask({ mode: 'raw', leftCheek: 90, rightCheek: 90 });
  mask(all, face, half, 0);
  expect(Math.max(...half)).toBe(0);
  mask(all.fill(1, 13 * SIDE * SIDE, 14 * SIDE * SIDE), face, half, 0);
  expect(Math.min(...half)).toBeCloseTo(1);
  // The last class, a hat, is as likely as the lower lip.
  mask(all.fill(1, 18 * SIDE * SIDE), face, half, 0);
  expect(Math.min(...half)).toBeCloseTo(1);
});
