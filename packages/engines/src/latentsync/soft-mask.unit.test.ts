import { inpaintMask } from './inpaint-mask';
import { softMask } from './soft-mask';

const SIDE = 256;

/** Generated: a block that extends close to the sides of the box. */
const block = inpaintMask(
  { size: SIDE, spans: Array.from({ length: 130 }, (_, i): [number, number, number] => [100 + i, 3, 250]) },
  SIDE,
);

const at = (mask: Float32Array, row: number, column: number): number => mask[row * SIDE + column] ?? NaN;

test('nothing outside the generated part has any weight', () => {
  const mask = softMask(block, SIDE);
  expect(mask.filter((weight, i) => weight !== 0 && block[i] !== 1)).toHaveLength(0);
});

test('the middle of the generated part is fully shown, and its border fades', () => {
  const mask = softMask(block, SIDE);
  expect(at(mask, 165, 128)).toBeCloseTo(1, 5);
  expect(at(mask, 101, 128)).toBeLessThan(0.1);
  expect(at(mask, 104, 128)).toBeGreaterThan(0.3);
  expect(at(mask, 104, 128)).toBeLessThan(0.7);
  for (let row = 100; row < 120; row++) {
    expect(at(mask, row + 1, 128)).toBeGreaterThanOrEqual(at(mask, row, 128));
    expect(at(mask, row + 1, 128) - at(mask, row, 128)).toBeLessThan(0.35);
  }
});

test('the sides of the box fade as published: to half at a twentieth of its size', () => {
  const mask = softMask(new Float32Array(SIDE * SIDE).fill(1), SIDE);
  // ⌊√(210·280)⌋ / 20 = 12 of 210 pixels across, of 280 down; blurred with a kernel of 25.
  const across = (12 * SIDE) / 210;
  const down = (12 * SIDE) / 280;
  expect(at(mask, 128, Math.round(across))).toBeGreaterThan(0.4);
  expect(at(mask, 128, Math.round(across) - 1)).toBeLessThan(0.6);
  expect(at(mask, Math.round(down), 128)).toBeGreaterThan(0.4);
  expect(at(mask, Math.round(down) - 1, 128)).toBeLessThan(0.6);
  expect(at(mask, 128, 0)).toBe(0);
  expect(at(mask, 128, Math.ceil(2 * across))).toBeCloseTo(1, 2);
});

test('a crop too small for a soft box has none and stays usable', () => {
  const mask = softMask(new Float32Array(16 * 16).fill(1), 16);
  expect(mask.every((weight) => weight === 1)).toBe(true);
});
