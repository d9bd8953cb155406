import * as fc from 'fast-check';
import { createAlignedCrop } from './aligned-crop';
import { createAlignedPaste } from './aligned-paste';
import { type Affine, type PictureFormat, pictureLayout } from './picture';

const SIDE = 64;
const AREA = SIDE * SIDE;
const format: PictureFormat = {
  width: 160,
  height: 120,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const white = new Float32Array(3 * AREA).fill(1);

function picture(of: PictureFormat = format): Uint8Array {
  const { bytes, uOffset } = pictureLayout(of);
  return Uint8Array.from({ length: bytes }, (_, i) =>
    i < uOffset ? 60 + 80 * Math.sin(i / 97) ** 2 + (i % 13) : 118 + 8 * Math.sin(i / 31),
  );
}

/**
 * Maps a picture to the crop: a pixel of the crop covers `step` pixels in each direction, rotated by `turn`, centered at
 * x, y.
 */
function place(x: number, y: number, step: number, turn = 0): Affine {
  const [cos, sin] = [Math.cos(turn) / step, Math.sin(turn) / step];
  return {
    a: cos,
    b: sin,
    c: SIDE / 2 - cos * x - sin * y,
    d: -sin,
    e: cos,
    f: SIDE / 2 + sin * x - cos * y,
  };
}

/** 1 in the middle half of the crop, 0 elsewhere. */
const middle = Float32Array.from({ length: AREA }, (_, i) => {
  const inside = (k: number) => k >= SIDE / 4 && k < (SIDE * 3) / 4;
  return inside(i % SIDE) && inside(Math.floor(i / SIDE)) ? 1 : 0;
});

/** How far a pixel's center is inside the middle half, in pixels of the crop; negative outside. */
function depth({ a, b, c, d, e, f }: Affine, x: number, y: number): number {
  const u = a * (x + 0.5) + b * (y + 0.5) + c;
  const v = d * (x + 0.5) + e * (y + 0.5) + f;
  return SIDE / 4 - Math.max(Math.abs(u - SIDE / 2), Math.abs(v - SIDE / 2));
}

test('all of the mask is drawn, and nothing outside it changes, for any position and rotation of the face', () => {
  fc.assert(
    fc.property(
      fc.record({
        width: fc.integer({ min: 16, max: 90 }),
        height: fc.integer({ min: 16, max: 90 }),
        x: fc.double({ min: -20, max: 110, noNaN: true }),
        y: fc.double({ min: -20, max: 110, noNaN: true }),
        step: fc.double({ min: 0.2, max: 4, noNaN: true }),
        turn: fc.double({ min: -3.2, max: 3.2, noNaN: true }),
      }),
      ({ width, height, x, y, step, turn }) => {
        const of: PictureFormat = { ...format, width, height };
        const before = picture(of);
        const after = before.slice();
        const transform = place(x, y, step, turn);
        createAlignedPaste(of, SIDE, middle)(after, transform, white, 0);
        // Bilinear interpolation of the mask's hard border extends one sample to each side, a mean of samples half an
        // output.
        const reach = 1 + 1 / step;
        let wrong = 0;
        for (let row = 0; row < height; row++) {
          for (let column = 0; column < width; column++) {
            const at = row * width + column;
            const inside = depth(transform, column, row);
            const drawable = column < (width & ~1) && row < (height & ~1);
            if (inside < -reach && after[at] !== before[at]) wrong++;
            if (inside > reach && drawable && after[at] !== 235) wrong++;
          }
        }
        expect(wrong).toBe(0);
      },
    ),
  );
});

test('an empty mask changes nothing at all', () => {
  const after = picture();
  createAlignedPaste(format, SIDE, new Float32Array(AREA))(after, place(80, 60, 1), white, 0);
  expect(after).toEqual(picture());
});

test('cropping a rotated face and pasting it back unchanged gives the same picture within two gray levels', () => {
  const large: PictureFormat = { ...format, width: 240, height: 200 };
  const { bytes, uOffset } = pictureLayout(large);
  const smooth = Uint8Array.from({ length: bytes }, (_, i) =>
    i < uOffset ? 80 + (i % large.width) / 2 + Math.floor(i / large.width) / 3 : 120,
  );
  for (const step of [0.5, 1, 1.3, 1.8]) {
    const transform = place(120.3, 100.2, step, 0.35);
    const face = new Float32Array(3 * AREA + 2);
    createAlignedCrop(large, SIDE)(smooth, transform, face, 2);
    const after = smooth.slice();
    createAlignedPaste(large, SIDE, new Float32Array(AREA).fill(1))(after, transform, face, 2);
    let worst = 0;
    for (let i = 0; i < bytes; i++) worst = Math.max(worst, Math.abs((after[i] ?? 0) - (smooth[i] ?? 0)));
    expect(worst).toBeLessThanOrEqual(2);
  }
});

test('half a mask blends half way to values that a network overshoots, clipped', () => {
  const after = picture().fill(101, 0, format.width * format.height);
  const face = new Float32Array(3 * AREA).fill(7);
  createAlignedPaste(format, SIDE, new Float32Array(AREA).fill(0.5))(after, place(80, 60, 1), face, 0);
  expect(after[60 * format.width + 80]).toBe(168);
});
