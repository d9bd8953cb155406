import * as fc from 'fast-check';
import { MASK_SIZE } from './blend-mask';
import { type Box } from './box';
import { createCropFace } from './crop-face';
import { BILINEAR, LANCZOS } from './interpolation';
import { createPasteFace } from './paste-face';
import { pictureLayout, type PictureFormat } from './picture-format';
import { createCropFace as plainCropFace } from './reference/crop-face';
import { createPasteFace as plainPasteFace } from './reference/paste-face';

const formats: fc.Arbitrary<PictureFormat> = fc.record({
  width: fc.integer({ min: 16, max: 90 }),
  height: fc.integer({ min: 16, max: 90 }),
  matrix: fc.constantFrom('bt601', 'bt709'),
  range: fc.constantFrom('limited', 'full'),
});

/** Boxes inside, across the borders of and larger than any of the pictures, also tiny ones. */
const boxes: fc.Arbitrary<Box> = fc
  .record({
    x: fc.double({ min: -20, max: 80, noNaN: true }),
    y: fc.double({ min: -20, max: 80, noNaN: true }),
    w: fc.double({ min: 2, max: 130, noNaN: true }),
    h: fc.double({ min: 2, max: 130, noNaN: true }),
  })
  .map(({ x, y, w, h }) => ({ x1: x, y1: y, x2: x + w, y2: y + h }));

/** Repeatable noise in [0, 1): the sharpest picture there is. */
function noise(length: number, seed: number): Float32Array {
  let state = seed | 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

const bytes = (format: PictureFormat, seed: number): Uint8Array =>
  Uint8Array.from(noise(pictureLayout(format).bytes, seed), (value) => value * 256);

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs((a[i] ?? NaN) - (b[i] ?? NaN)));
  return most;
}

/** One grey level of a crop in [-1, 1]. */
const LEVEL = 2 / 255;

describe('the kernels give what the plain implementation gives', () => {
  test('a crop of any picture under any box differs by less than a grey level', () => {
    fc.assert(
      fc.property(
        formats,
        boxes,
        fc.constantFrom(8, 24, 64),
        fc.constantFrom(BILINEAR, LANCZOS),
        fc.nat(),
        (format, box, size, interpolation, seed) => {
          const picture = bytes(format, seed);
          const before = picture.slice();
          const got = new Float32Array(3 * size * size + 2).fill(7);
          const wanted = got.slice();
          createCropFace(format, size, interpolation)(picture, box, got, 1);
          plainCropFace(format, size, interpolation)(picture, box, wanted, 1);
          expect(largestDifference(got, wanted)).toBeLessThan(LEVEL);
          expect(Buffer.compare(picture, before)).toBe(0);
        },
      ),
    );
  });

  test('a pasted face differs by at most one grey level, and what lies outside its box keeps its value', () => {
    fc.assert(
      fc.property(formats, boxes, fc.constantFrom(8, 24, 64), fc.nat(), (format, box, size, seed) => {
        const picture = bytes(format, seed);
        // Graphs overshoot: some values lie outside [-1, 1].
        const faces = noise(2 + 3 * size * size, seed + 1).map((value) => 2.4 * value - 1.2);
        const mask = noise(MASK_SIZE * MASK_SIZE, seed + 2).map((value, i) =>
          i < (MASK_SIZE * MASK_SIZE) / 2 ? 0 : value,
        );
        const got = picture.slice();
        const wanted = picture.slice();
        createPasteFace(format, size)(got, box, faces, 2, mask);
        plainPasteFace(format, size)(wanted, box, faces, 2, mask);
        expect(largestDifference(got, wanted)).toBeLessThanOrEqual(1);
        const outside = (x: number, y: number): boolean =>
          x + 1 <= box.x1 || x >= box.x2 || y + 1 <= box.y1 || y >= box.y2;
        let strays = 0;
        for (let i = 0; i < format.width * format.height; i++) {
          if (outside(i % format.width, Math.floor(i / format.width)) && got[i] !== picture[i]) strays++;
        }
        expect(strays).toBe(0);
      }),
    );
  });
});
