import { createMaskSoftener, HALF_MASK_VALUES, MASK_SIZE } from '@lipsync/kernels';
import { outlineMask } from './mask';

describe('blend mask', () => {
  const box = { x1: 100, y1: 50, x2: 300, y2: 250 };

  /** A round jaw from ear to ear at the height of the box's middle, chin near its bottom, nose base below the middle. */
  function landmarks(): Float32Array {
    const points = new Float32Array(136);
    for (let i = 0; i <= 16; i++) {
      const angle = Math.PI * (1 - i / 16);
      points[2 * i] = 200 + 90 * Math.cos(angle);
      points[2 * i + 1] = 150 + 85 * Math.sin(angle);
    }
    for (let i = 31; i <= 35; i++) {
      points[2 * i] = 200 + (i - 33) * 10;
      points[2 * i + 1] = 165;
    }
    return points;
  }

  function softMask(points: Float32Array, blur = 0.05): Float32Array {
    const half = new Float32Array(HALF_MASK_VALUES + 3);
    outlineMask(points, box, half, 3);
    const mask = new Float32Array(MASK_SIZE * MASK_SIZE).fill(0.7);
    createMaskSoftener(blur)(half, 3, box, mask);
    return mask;
  }

  const at = (mask: Float32Array, x: number, y: number): number =>
    mask[
      Math.floor(((y - box.y1) / 200) * MASK_SIZE) * MASK_SIZE + Math.floor(((x - box.x1) / 200) * MASK_SIZE)
    ] ?? NaN;

  test('the mouth is fully shown; eyes, nose, hair and everything beyond the jaw stay unchanged', () => {
    const mask = softMask(landmarks());
    expect(at(mask, 200, 200)).toBeCloseTo(1, 3);
    expect(at(mask, 200, 100)).toBe(0);
    expect(at(mask, 200, 135)).toBe(0);
    expect(at(mask, 105, 245)).toBe(0);
    expect(at(mask, 295, 245)).toBe(0);
  });

  test('the edge of the mask is soft and follows the jaw line', () => {
    const mask = softMask(landmarks());
    const chin = Array.from({ length: 30 }, (_, i) => at(mask, 200, 220 + i));
    expect(at(mask, 200, 235)).toBeGreaterThan(0.35);
    expect(at(mask, 200, 235)).toBeLessThan(0.65);
    for (let i = 1; i < chin.length; i++) {
      expect((chin[i - 1] ?? 0) - (chin[i] ?? 0)).toBeGreaterThanOrEqual(-1e-6);
      expect((chin[i - 1] ?? 0) - (chin[i] ?? 0)).toBeLessThan(0.25);
    }
  });

  test('a face rotated out of its box cannot write outside the mask grid', () => {
    const wild = landmarks().map((value) => value * 3 - 400);
    for (const value of softMask(wild)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1.000001);
    }
  });

  test('the hard half leaves its neighbors in the array unchanged, and clears what was there', () => {
    const half = new Float32Array(HALF_MASK_VALUES + 4).fill(9);
    outlineMask(landmarks(), box, half, 2);
    expect([half[0], half[1], half.at(-2), half.at(-1)]).toEqual([9, 9, 9, 9]);
    expect(new Set(half.subarray(2, -2))).toEqual(new Set([0, 1]));
  });
});
