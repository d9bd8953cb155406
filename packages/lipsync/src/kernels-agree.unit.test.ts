import * as fc from 'fast-check';
import { createMaskSoftener, HALF_MASK_VALUES, MASK_SIZE, MASK_SQUARE } from './blend-mask';
import { type Box } from './box';
import { createCropFace } from './crop-face';
import { BILINEAR, LANCZOS } from './interpolation';
import { blurLines, gaussianKernel } from './gaussian-blur';
import { createPasteFace } from './paste-face';
import { createPatchSampler } from './patch-sampler';
import { pictureLayout, type PictureFormat } from './picture-format';
import { createCropFace as plainCropFace } from './reference/crop-face';
import { createPasteFace as plainPasteFace } from './reference/paste-face';
import { samplePatch as plainSamplePatch } from './reference/sample-patch';

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
      // A box of a few pixels: each of them sees many cells of the mask, those of the pixel beside it too.
      {
        examples: [
          [
            { width: 16, height: 16, matrix: 'bt601', range: 'limited' },
            { x1: 0, y1: 0, x2: 2, y2: 4.0635 },
            8,
            1,
          ],
          [
            { width: 16, height: 16, matrix: 'bt601', range: 'limited' },
            { x1: 0, y1: 0, x2: 6, y2: 4.0635 },
            8,
            7,
          ],
        ],
      },
    );
  });

  test('a sampled patch, turned, shrunk, enlarged or off the picture, differs by at most two grey levels', () => {
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
          // At the picture's border a sample may fall to the other side: a share of the mean, not an error of it.
          const differing = got.data.filter((value, i) => Math.abs(value - (wanted.data[i] ?? NaN)) > 2);
          expect(differing.length).toBeLessThanOrEqual(outBytes * 0.02);
        },
      ),
    );
  });

  test('a softened mask is the blurred one', () => {
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
