import { createPasteFace, MASK_SIZE, type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { RECTANGLE_FEATHER, rectangleBlendMask, restoreOutside } from './mask';

/** The rectangle of the published weights. */
const HIGHSYNC = { top: 28, bottom: 59, left: 5, right: 58 };
const LATENT = { channels: 4, height: 64, width: 64 };

test('cells outside the rectangle become those of the clean latent, and those inside keep every value', () => {
  const shape = { channels: 2, height: 5, width: 4 };
  const rectangle = { top: 1, bottom: 3, left: 1, right: 2 };
  const latent = new Float32Array(3 + 40).fill(7);
  const clean = Float32Array.from({ length: 2 + 40 }, (_, i) => i);
  restoreOutside(latent, 3, clean, 2, shape, rectangle);
  expect(Array.from(latent.subarray(0, 3))).toEqual([7, 7, 7]);
  for (let i = 0; i < 40; i++) {
    const row = Math.floor((i % 20) / 4);
    const column = i % 4;
    const inside = row >= 1 && row <= 3 && column >= 1 && column <= 2;
    expect(latent[3 + i]).toBe(inside ? 7 : i + 2);
  }
});

test.each([
  ['the whole latent', { top: 0, bottom: 3, left: 0, right: 3 }, 16],
  ['one cell in the corner', { top: 0, bottom: 0, left: 3, right: 3 }, 1],
])('a rectangle of %s is filled exactly to its borders', (_, rectangle, cells) => {
  const latent = new Float32Array(16).fill(1);
  restoreOutside(latent, 0, new Float32Array(16), 0, { channels: 1, height: 4, width: 4 }, rectangle);
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
    const full = rectangleBlendMask({ top: 0, bottom: 7, left: 0, right: 7 }, { height: 8, width: 8 });
    const middle = MASK_SIZE / 2;
    for (const edge of [middle, middle * MASK_SIZE, middle * MASK_SIZE + MASK_SIZE - 1]) {
      expect(full[edge]).toBeLessThan(0.1);
    }
    expect(full[middle * MASK_SIZE + middle]).toBe(1);
  });

  test('pixels outside the feathered rectangle keep their exact values', () => {
    const side = 32;
    const format: PictureFormat = { width: 160, height: 120, matrix: 'bt709', range: 'limited' };
    const { bytes } = pictureLayout(format);
    const before = Uint8Array.from({ length: bytes }, (_, i) => 60 + (i % 97));
    const after = before.slice();
    const box = { x1: 20.4, y1: 5.2, x2: 133.1, y2: 118.7 };
    createPasteFace(format, side)(after, box, new Float32Array(3 * side * side).fill(1), 0, mask);
    const reach = RECTANGLE_FEATHER + 1 / MASK_SIZE;
    let changed = 0;
    for (let y = 0; y < format.height; y++) {
      for (let x = 0; x < format.width; x++) {
        const i = y * format.width + x;
        if (after[i] === before[i]) continue;
        changed++;
        const u = (x + 0.5 - box.x1) / (box.x2 - box.x1);
        const v = (y + 0.5 - box.y1) / (box.y2 - box.y1);
        expect(u > 5 / 64 - reach && u < 59 / 64 + reach).toBe(true);
        expect(v > 28 / 64 - reach && v < 60 / 64 + reach).toBe(true);
      }
    }
    expect(changed).toBeGreaterThan(4000);
  });
});
