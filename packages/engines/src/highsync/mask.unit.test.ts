import { MASK_SIZE } from '@lipsync/kernels';
import { rectangleBlendMask, restoreOutside } from './mask';

/** The rectangle of the published weights. */
const HIGHSYNC = { top: 28, bottom: 59, left: 5, right: 58 };
const LATENT = { channels: 4, height: 64, width: 64, scale: 1 };

test('cells outside the rectangle become those of the clean latent, and those inside keep every value', () => {
  const shape = { channels: 2, height: 5, width: 4, scale: 1 };
  const rectangle = { top: 1, bottom: 3, left: 1, right: 2 };
  const latent = new Float32Array(40).fill(77);
  const clean = Float32Array.from({ length: 40 }, (_, i) => i);
  restoreOutside(latent, clean, shape, rectangle);
  for (let i = 0; i < 40; i++) {
    const row = Math.floor((i % 20) / 4);
    const column = i % 4;
    const inside = row >= 1 && row <= 3 && column >= 1 && column <= 2;
    expect(latent[i]).toBe(inside ? 77 : i);
  }
});

test.each([
  ['the whole latent', { top: 0, bottom: 3, left: 0, right: 3 }, 16],
  ['one cell in the corner', { top: 0, bottom: 0, left: 3, right: 3 }, 1],
])('a rectangle of %s is filled exactly to its borders', (_, rectangle, cells) => {
  const latent = new Float32Array(16).fill(1);
  restoreOutside(latent, new Float32Array(16), { channels: 1, height: 4, width: 4, scale: 1 }, rectangle);
  expect(latent.filter((value) => value === 1)).toHaveLength(cells);
});

describe('blending', () => {
  const mask = rectangleBlendMask(HIGHSYNC, LATENT);
  const at = (x: number, y: number): number => mask[Math.floor(y / 4) * MASK_SIZE + Math.floor(x / 4)] ?? NaN;

  test('the generated rectangle is fully shown, half visible 8 of 512 pixels outside, and invisible at 16', () => {
    for (const [x, y] of [
      [40, 224],
      [471, 224],
      [40, 479],
      [471, 479],
      [256, 350],
    ] as const) {
      expect(at(x, y)).toBe(1);
    }
    expect((at(256, 217) + at(256, 215)) / 2).toBeCloseTo(0.5, 5);
    expect((at(256, 487) + at(256, 488)) / 2).toBeCloseTo(0.5, 5);
    for (const [x, y] of [
      [256, 207],
      [256, 496],
      [23, 350],
      [488, 350],
    ] as const) {
      expect(at(x, y)).toBe(0);
    }
  });

  test('a rectangle that fills the crop still ends softly inside it', () => {
    const full = rectangleBlendMask(
      { top: 0, bottom: 7, left: 0, right: 7 },
      { channels: 1, height: 8, width: 8, scale: 1 },
    );
    const middle = MASK_SIZE / 2;
    for (const edge of [middle, middle * MASK_SIZE, middle * MASK_SIZE + MASK_SIZE - 1]) {
      expect(full[edge]).toBeLessThan(0.1);
    }
    expect(full[middle * MASK_SIZE + middle]).toBe(1);
  });
});
