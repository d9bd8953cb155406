import * as fc from 'fast-check';
import { createCropFace } from './crop-face';
import {
  blurLines,
  createMaskSoftener,
  gaussianKernel,
  HALF_MASK_VALUES,
  MASK_SIZE,
  MASK_SQUARE,
} from './mask';
import { createPasteFace } from './paste-face';
import { createPatchSampler, type Patch } from './patch-sampler';
import { type Box, type PictureFormat, pictureLayout } from './picture';
import { BILINEAR, LANCZOS } from './resampling';
import { samplePatch as plainSamplePatch } from './test/reference/sample-patch';
import { createCropFace as plainCropFace, createPasteFace as plainPasteFace } from './test/reference/upright';

interface Size {
  readonly width: number;
  readonly height: number;
}

const formats: fc.Arbitrary<PictureFormat> = fc.record({
  width: fc.integer({ min: 16, max: 90 }),
  height: fc.integer({ min: 16, max: 90 }),
  matrix: fc.constantFrom('bt601', 'bt709'),
  range: fc.constantFrom('limited', 'full'),
});

/** Boxes inside, across the borders of and larger than any of the pictures, including tiny ones. */
const boxes: fc.Arbitrary<Box> = fc
  .record({
    x: fc.double({ min: -20, max: 80, noNaN: true }),
    y: fc.double({ min: -20, max: 80, noNaN: true }),
    w: fc.double({ min: 2, max: 130, noNaN: true }),
    h: fc.double({ min: 2, max: 130, noNaN: true }),
  })
  .map(({ x, y, w, h }) => ({ x1: x, y1: y, x2: x + w, y2: y + h }));

/** Whether a mask shows anything at a cell. */
type Shown = (column: number, row: number) => boolean;

const lowerHalf: Shown = (_, row) => row >= MASK_SIZE / 2;

const range = fc
  .tuple(fc.integer({ min: 0, max: MASK_SIZE }), fc.integer({ min: 0, max: MASK_SIZE }))
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

/** Rectangles of a mask, some of which show nothing. */
const shownCells: fc.Arbitrary<Shown> = fc.tuple(range, range).map(
  ([columns, rows]): Shown =>
    (column, row) =>
      column >= columns.from && column < columns.to && row >= rows.from && row < rows.to,
);

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
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs((a[i] ?? NaN) - (b[i] ?? NaN)));
  return most;
}

/**
 * Pixels of a patch with a sample so close to the border of the picture that rounding decides on which side it is: all
 * of a sample, or nothing. An unrotated patch may have a whole line of them.
 */
function sampledAtBorder(picture: Size, patch: Patch, out: Size): Set<number> {
  const samples = Math.min(4, Math.max(1, Math.round(patch.side / out.width)));
  const step = patch.side / out.width / samples;
  const [cos, sin] = [Math.cos(patch.angle) * step, Math.sin(patch.angle) * step];
  const atEnd = (place: number, length: number): boolean =>
    Math.abs(place) < 1e-3 || Math.abs(place - (length - 1)) < 1e-3;
  const pixels = new Set<number>();
  for (let j = 0; j < out.height * samples; j++) {
    for (let i = 0; i < out.width * samples; i++) {
      const [across, down] = [i + (1 - out.width * samples) / 2, j + (1 - out.height * samples) / 2];
      const x = patch.x - 0.5 + across * cos - down * sin;
      const y = patch.y - 0.5 + across * sin + down * cos;
      if (atEnd(x, picture.width) || atEnd(y, picture.height))
        pixels.add(Math.floor(j / samples) * out.width + Math.floor(i / samples));
    }
  }
  return pixels;
}

/** One gray level of a crop in [-1, 1]. */
const LEVEL = 2 / 255;

describe('the kernels match the plain implementation', () => {
  test('a crop of any picture under any box differs by less than a gray level', () => {
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

  test('a pasted face differs by at most one gray level, and everything outside its box keeps its value', () => {
    fc.assert(
      fc.property(
        formats,
        boxes,
        shownCells,
        fc.constantFrom(8, 24, 64),
        fc.nat(),
        (format, box, shown, size, seed) => {
          const picture = bytes(format, seed);
          // Graphs overshoot, so some values are outside [-1, 1].
          const faces = noise(2 + 3 * size * size, seed + 1).map((value) => 2.4 * value - 1.2);
          const mask = noise(MASK_SIZE * MASK_SIZE, seed + 2).map((value, i) =>
            shown(i % MASK_SIZE, Math.floor(i / MASK_SIZE)) ? value : 0,
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
        },
      ),
      // In a box of a few pixels each of them covers many cells of the mask, including those of the neighboring pixel.
      {
        examples: [
          [
            { width: 16, height: 16, matrix: 'bt601', range: 'limited' },
            { x1: 0, y1: 0, x2: 2, y2: 4.0635 },
            lowerHalf,
            8,
            1,
          ],
          [
            { width: 16, height: 16, matrix: 'bt601', range: 'limited' },
            { x1: 0, y1: 0, x2: 6, y2: 4.0635 },
            lowerHalf,
            8,
            7,
          ],
        ],
      },
    );
  });

  test('a sampled patch, rotated, shrunk, enlarged or outside the picture, differs by at most three gray levels', () => {
    const sampler = createPatchSampler();
    fc.assert(
      fc.property(
        fc.record({ width: fc.integer({ min: 2, max: 70 }), height: fc.integer({ min: 2, max: 70 }) }),
        fc.record({
          x: fc.double({ min: -20, max: 90, noNaN: true }),
          y: fc.double({ min: -20, max: 90, noNaN: true }),
          side: fc.double({ min: 1, max: 200, noNaN: true }),
          angle: fc.double({ min: -4, max: 4, noNaN: true }),
        }),
        fc.record({ width: fc.integer({ min: 1, max: 30 }), height: fc.integer({ min: 1, max: 30 }) }),
        fc.nat(),
        (size, patch, outSize, seed) => {
          const data = Uint8Array.from(noise(size.width * size.height * 3, seed), (value) => value * 256);
          const outBytes = outSize.width * outSize.height * 3;
          const got = { ...outSize, data: new Uint8Array(outBytes) };
          const wanted = { ...outSize, data: new Uint8Array(outBytes) };
          sampler({ ...size, data }, patch, got);
          plainSamplePatch({ ...size, data }, patch, wanted);
          const skipped = sampledAtBorder(size, patch, outSize);
          const differing = got.data.filter(
            (value, i) => !skipped.has(Math.floor(i / 3)) && Math.abs(value - (wanted.data[i] ?? NaN)) > 3,
          );
          expect(differing.length).toBe(0);
        },
      ),
    );
  });

  test('a softened mask equals the blurred one', () => {
    fc.assert(
      fc.property(boxes, fc.double({ min: 0.005, max: 0.9, noNaN: true }), fc.nat(), (box, blur, seed) => {
        const half = noise(HALF_MASK_VALUES + 3, seed).map(Math.round);
        const got = new Float32Array(MASK_SIZE * MASK_SIZE).fill(7);
        createMaskSoftener(blur)(half, 3, box, got);
        const [width, height] = [box.x2 - box.x1, box.y2 - box.y1];
        const size = Math.floor((blur * MASK_SQUARE * Math.max(width, height)) / 2) * 2 + 1;
        const wanted = new Float32Array(MASK_SIZE * MASK_SIZE);
        wanted.set(half.subarray(3), HALF_MASK_VALUES);
        const between = wanted.slice();
        blurLines(wanted, between, MASK_SIZE, 'rows', gaussianKernel(size, MASK_SIZE / width));
        blurLines(between, wanted, MASK_SIZE, 'columns', gaussianKernel(size, MASK_SIZE / height));
        expect(largestDifference(got, wanted)).toBeLessThan(1e-4);
      }),
      { numRuns: 30 },
    );
  });
});
