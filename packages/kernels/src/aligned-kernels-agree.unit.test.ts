import * as fc from 'fast-check';
import { createAlignedCrop } from './aligned-crop';
import { createAlignedPaste } from './aligned-paste';
import { type Affine, type PictureFormat, pictureLayout } from './picture';
import {
  createAlignedCrop as plainAlignedCrop,
  createAlignedPaste as plainAlignedPaste,
} from './test/reference/aligned';

const formats: fc.Arbitrary<PictureFormat> = fc.record({
  width: fc.integer({ min: 2, max: 90 }),
  height: fc.integer({ min: 2, max: 90 }),
  matrix: fc.constantFrom('bt601', 'bt709'),
  range: fc.constantFrom('limited', 'full'),
});

/** Includes odd sides, because the kernels process multiples of four. */
const sides = fc.constantFrom(8, 17, 40);

/** A face anywhere in and around the picture, at any rotation, wider than high or vice versa. */
const places = fc.record({
  x: fc.double({ min: -30, max: 120, noNaN: true }),
  y: fc.double({ min: -30, max: 120, noNaN: true }),
  /** Pixels of the picture per pixel of the crop. */
  step: fc.double({ min: 0.15, max: 3.6, noNaN: true }),
  stretch: fc.double({ min: 0.6, max: 1.6, noNaN: true }),
  turn: fc.oneof(fc.double({ min: -3.2, max: 3.2, noNaN: true }), fc.constantFrom(0, Math.PI / 2, Math.PI)),
});

type Place = typeof places extends fc.Arbitrary<infer T> ? T : never;

/** Maps the picture to the crop. */
function transformOf({ x, y, step, stretch, turn }: Place, side: number): Affine {
  const [cos, sin] = [Math.cos(turn) / step, Math.sin(turn) / step];
  const rows = { a: cos, b: sin, d: -sin / stretch, e: cos / stretch };
  return {
    ...rows,
    c: side / 2 - rows.a * x - rows.b * y,
    f: side / 2 - rows.d * x - rows.e * y,
  };
}

/** Repeatable noise in [0, 1): the sharpest possible picture. */
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
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] ?? NaN) - (b[i] ?? NaN));
    if (!(difference <= most)) most = difference;
  }
  return most;
}

/** One gray level of a crop in [-1, 1]. */
const LEVEL = 2 / 255;

describe('the kernels for rotated faces match the plain implementation', () => {
  test('a crop of any picture at any position differs by less than a gray level, and nothing else is written', () => {
    fc.assert(
      fc.property(formats, places, sides, fc.nat(), (format, place, side, seed) => {
        const transform = transformOf(place, side);
        const picture = bytes(format, seed);
        const before = picture.slice();
        const got = new Float32Array(3 * side * side + 2).fill(7);
        const wanted = got.slice();
        const crop = createAlignedCrop(format, side);
        // Whatever an earlier picture has left in the kernels' memory must not matter.
        crop(bytes(format, seed + 1), transformOf({ ...place, x: 40, y: 30 }, side), got.slice(), 1);
        crop(picture, transform, got, 1);
        plainAlignedCrop(format, side)(picture, transform, wanted, 1);
        expect(largestDifference(got, wanted)).toBeLessThan(LEVEL);
        expect(Buffer.compare(picture, before)).toBe(0);
      }),
    );
  });

  test('a pasted face differs by at most one gray level in every sample', () => {
    fc.assert(
      fc.property(formats, places, sides, fc.nat(), (format, place, side, seed) => {
        const transform = transformOf(place, side);
        const picture = bytes(format, seed);
        // Graphs overshoot, so some values are outside [-1, 1].
        const face = (of: number): Float32Array =>
          noise(2 + 3 * side * side, of).map((value) => 2.4 * value - 1.2);
        const mask = noise(side * side, seed + 2).map((value, i) =>
          i < (side * side) / 3 || i % side < 2 ? 0 : value,
        );
        const got = picture.slice();
        const wanted = picture.slice();
        const paste = createAlignedPaste(format, side, mask);
        paste(picture.slice(), transformOf({ ...place, x: 40, y: 30 }, side), face(seed + 3), 2);
        paste(got, transform, face(seed + 1), 2);
        plainAlignedPaste(format, side, mask)(wanted, transform, face(seed + 1), 2);
        expect(largestDifference(got, wanted)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('pixels outside the mask keep their exact values, whatever color the face has', () => {
    fc.assert(
      fc.property(formats, places, sides, fc.nat(), (format, place, side, seed) => {
        const transform = transformOf(place, side);
        const mask = noise(side * side, seed).map((value, i) => (i < (side * side) / 3 ? 0 : value));
        // A pixel is under the mask if the plain paste turns white into black or black into white there.
        const [dark, bright] = [0, 255].map((level) => {
          const picture = new Uint8Array(pictureLayout(format).bytes).fill(level);
          plainAlignedPaste(format, side, mask)(
            picture,
            transform,
            new Float32Array(3 * side * side).fill(level === 0 ? 1 : -1),
            0,
          );
          return picture;
        });
        const before = bytes(format, seed);
        const after = before.slice();
        createAlignedPaste(format, side, mask)(after, transform, noise(3 * side * side, seed + 1), 0);
        let strays = 0;
        for (let i = 0; i < format.width * format.height; i++) {
          if (dark?.[i] === 0 && bright?.[i] === 255 && after[i] !== before[i]) strays++;
        }
        expect(strays).toBe(0);
      }),
    );
  });
});
