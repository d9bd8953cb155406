import * as fc from 'fast-check';
import { createAlignedCrop } from './aligned-crop';
import { createAlignedPaste } from './aligned-paste';
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
import { type Affine, type Box, type PictureFormat, pictureLayout } from './picture';
import { BILINEAR, LANCZOS } from './resampling';
import {
  createAlignedCrop as plainAlignedCrop,
  createAlignedPaste as plainAlignedPaste,
} from './test/reference/aligned';
import { samplePatch as plainSamplePatch } from './test/reference/sample-patch';
import { createCropFace as plainCropFace, createPasteFace as plainPasteFace } from './test/reference/upright';

interface Size {
  readonly width: number;
  readonly height: number;
}

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });

const EIGHT_BITS = { depth: 8, transfer: 'sdr' } as const;
/** Half of the pictures have eight bits. */
const codings = [
  ...[EIGHT_BITS, EIGHT_BITS, EIGHT_BITS],
  { depth: 10, transfer: 'sdr' },
  { depth: 10, transfer: 'pq' },
  { depth: 10, transfer: 'hlg' },
] as const;

const formatsFrom = (smallest: number): fc.Arbitrary<PictureFormat> =>
  fc
    .record({
      width: fc.integer({ min: smallest, max: 90 }),
      height: fc.integer({ min: smallest, max: 90 }),
      matrix: fc.constantFrom('bt601', 'bt709', 'bt2020'),
      range: fc.constantFrom('limited', 'full'),
      coding: fc.constantFrom(...codings),
    })
    .map(({ coding, ...format }) => ({ ...format, ...coding }));

/** Also on edges and centers of pixels, where it is decided to which side a pixel belongs. */
const lengths = (min: number, max: number) =>
  fc.oneof(
    between(min, max),
    fc.integer({ min: 2 * min, max: 2 * max }).map((halves) => halves / 2),
  );

/** Boxes inside, across the borders of and larger than any of the pictures, including tiny ones. */
const boxes: fc.Arbitrary<Box> = fc
  .record({ x: lengths(-20, 80), y: lengths(-20, 80), w: lengths(2, 130), h: lengths(2, 130) })
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

const bytes = (length: number, seed: number): Uint8Array =>
  Uint8Array.from(noise(length, seed), (value) => value * 256);
function pictureOf(format: PictureFormat, seed: number): Uint8Array {
  const layout = pictureLayout(format);
  if (format.depth === 8) return bytes(layout.bytes, seed);
  return new Uint8Array(Uint16Array.from(noise(layout.bytes / 2, seed), (value) => value * 1024).buffer);
}
const samplesOf = (picture: Uint8Array, { depth }: PictureFormat): Uint8Array | Uint16Array =>
  depth === 8 ? picture : new Uint16Array(picture.buffer);

/** Graphs overshoot, so some values are outside [-1, 1]. */
const faceOf = (side: number, seed: number): Float32Array =>
  noise(2 + 3 * side * side, seed).map((value) => 2.4 * value - 1.2);

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] ?? NaN) - (b[i] ?? NaN));
    if (!(difference <= most)) most = difference;
  }
  return most;
}

/** One gray level of a crop in [-1, 1]; PQ has steeper curves, and rare pictures of noise need three. */
const cropTolerance = ({ transfer }: PictureFormat): number => (transfer === 'pq' ? 6 : 2) / 255;
/** The codes of one gray level; of two for PQ. */
const codesPerLevel = ({ depth, transfer }: PictureFormat): number =>
  depth === 8 ? 1 : transfer === 'pq' ? 8 : 4;

describe('the kernels for upright faces match the plain implementation', () => {
  test('a crop of any picture under any box differs by less than a gray level', () => {
    fc.assert(
      fc.property(
        formatsFrom(16),
        boxes,
        fc.constantFrom(8, 24, 64),
        fc.constantFrom(BILINEAR, LANCZOS),
        fc.nat(),
        (format, box, size, interpolation, seed) => {
          const picture = pictureOf(format, seed);
          const before = picture.slice();
          const got = new Float32Array(3 * size * size + 2).fill(7);
          const wanted = got.slice();
          createCropFace(format, size, interpolation)(picture, box, got, 1);
          plainCropFace(format, size, interpolation)(picture, box, wanted, 1);
          expect(largestDifference(got, wanted)).toBeLessThan(cropTolerance(format));
          expect(Buffer.compare(picture, before)).toBe(0);
        },
      ),
    );
  });

  test('a pasted face differs by at most one gray level, and everything outside its box keeps its value', () => {
    const small: PictureFormat = { width: 16, height: 16, matrix: 'bt601', range: 'limited', ...EIGHT_BITS };
    fc.assert(
      fc.property(
        formatsFrom(16),
        boxes,
        shownCells,
        fc.constantFrom(8, 24, 64),
        fc.nat(),
        (format, box, shown, size, seed) => {
          const picture = pictureOf(format, seed);
          const faces = faceOf(size, seed + 1);
          const mask = noise(MASK_SIZE * MASK_SIZE, seed + 2).map((value, i) =>
            shown(i % MASK_SIZE, Math.floor(i / MASK_SIZE)) ? value : 0,
          );
          const got = picture.slice();
          const wanted = picture.slice();
          createPasteFace(format, size)(got, box, faces, 2, mask);
          plainPasteFace(format, size)(wanted, box, faces, 2, mask);
          expect(largestDifference(samplesOf(got, format), samplesOf(wanted, format))).toBeLessThanOrEqual(
            codesPerLevel(format),
          );
          const outside = (x: number, y: number): boolean =>
            x + 1 <= box.x1 || x >= box.x2 || y + 1 <= box.y1 || y >= box.y2;
          const [before, after] = [samplesOf(picture, format), samplesOf(got, format)];
          let strays = 0;
          for (let i = 0; i < format.width * format.height; i++) {
            if (outside(i % format.width, Math.floor(i / format.width)) && after[i] !== before[i]) strays++;
          }
          expect(strays).toBe(0);
        },
      ),
      // In a box of a few pixels each of them covers many cells of the mask, including those of the neighboring pixel.
      {
        examples: [
          [small, { x1: 0, y1: 0, x2: 2, y2: 4.0635 }, lowerHalf, 8, 1],
          [small, { x1: 0, y1: 0, x2: 6, y2: 4.0635 }, lowerHalf, 8, 7],
        ],
      },
    );
  });

  test('a softened mask equals the blurred one', () => {
    fc.assert(
      fc.property(boxes, between(0.005, 0.9), fc.nat(), (box, blur, seed) => {
        const half = noise(HALF_MASK_VALUES + 3, seed).map(Math.round);
        const got = new Float32Array(MASK_SIZE * MASK_SIZE).fill(7);
        createMaskSoftener(blur)(half, 3, box, got);
        const [width, height] = [box.x2 - box.x1, box.y2 - box.y1];
        const size = Math.floor((blur * MASK_SQUARE * Math.max(width, height)) / 2) * 2 + 1;
        const wanted = new Float32Array(MASK_SIZE * MASK_SIZE);
        wanted.set(half.subarray(3), HALF_MASK_VALUES);
        const across = blurLines(wanted, MASK_SIZE, gaussianKernel(size, MASK_SIZE / width));
        const down = blurLines(across, MASK_SIZE, gaussianKernel(size, MASK_SIZE / height));
        expect(largestDifference(got, down)).toBeLessThan(1e-4);
      }),
      { numRuns: 30 },
    );
  });
});

/** Includes odd sides, because the kernels process multiples of four. */
const sides = fc.constantFrom(8, 17, 40);

/** A face anywhere in and around the picture, at any rotation, wider than high or vice versa. */
const places = fc.record({
  x: between(-30, 120),
  y: between(-30, 120),
  /** Pixels of the picture per pixel of the crop. */
  step: between(0.15, 3.6),
  stretch: between(0.6, 1.6),
  turn: fc.oneof(between(-3.2, 3.2), fc.constantFrom(0, Math.PI / 2, Math.PI)),
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

describe('the kernels for rotated faces match the plain implementation', () => {
  test('a crop of any picture at any position differs by less than a gray level, and nothing else is written', () => {
    fc.assert(
      fc.property(formatsFrom(2), places, sides, fc.nat(), (format, place, side, seed) => {
        const transform = transformOf(place, side);
        const picture = pictureOf(format, seed);
        const before = picture.slice();
        const got = new Float32Array(3 * side * side + 2).fill(7);
        const wanted = got.slice();
        const crop = createAlignedCrop(format, side);
        // Whatever an earlier picture has left in the kernels' memory must not matter.
        crop(pictureOf(format, seed + 1), transformOf({ ...place, x: 40, y: 30 }, side), got.slice(), 1);
        crop(picture, transform, got, 1);
        plainAlignedCrop(format, side)(picture, transform, wanted, 1);
        expect(largestDifference(got, wanted)).toBeLessThan(cropTolerance(format));
        expect(Buffer.compare(picture, before)).toBe(0);
      }),
    );
  });

  test('a pasted face differs by at most one gray level in every sample', () => {
    fc.assert(
      fc.property(formatsFrom(2), places, sides, fc.nat(), (format, place, side, seed) => {
        const transform = transformOf(place, side);
        const picture = pictureOf(format, seed);
        const mask = noise(side * side, seed + 2).map((value, i) =>
          i < (side * side) / 3 || i % side < 2 ? 0 : value,
        );
        const got = picture.slice();
        const wanted = picture.slice();
        const paste = createAlignedPaste(format, side, mask);
        paste(picture.slice(), transformOf({ ...place, x: 40, y: 30 }, side), faceOf(side, seed + 3), 2);
        paste(got, transform, faceOf(side, seed + 1), 2);
        plainAlignedPaste(format, side, mask)(wanted, transform, faceOf(side, seed + 1), 2);
        expect(largestDifference(samplesOf(got, format), samplesOf(wanted, format))).toBeLessThanOrEqual(
          codesPerLevel(format),
        );
      }),
    );
  });
});

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

/** The kernel cuts a sample's place off at 1/128 of a pixel on both axes: up to 255 / 128 gray levels each. */
const LEVELS_OF_CUT_PLACES = 4;

test('a sampled patch, rotated, shrunk, enlarged or outside the picture, differs by no more than its places are cut off', () => {
  const sampler = createPatchSampler();
  const sizes = (smallest: number, largest: number): fc.Arbitrary<Size> =>
    fc.record({
      width: fc.integer({ min: smallest, max: largest }),
      height: fc.integer({ min: smallest, max: largest }),
    });
  const patches = fc.record({
    x: between(-20, 90),
    y: between(-20, 90),
    side: between(1, 200),
    angle: between(-4, 4),
  });
  fc.assert(
    fc.property(sizes(2, 70), patches, sizes(1, 30), fc.nat(), (size, patch, outSize, seed) => {
      const picture = { ...size, data: bytes(size.width * size.height * 3, seed) };
      const outBytes = outSize.width * outSize.height * 3;
      const got = { ...outSize, data: new Uint8Array(outBytes) };
      const wanted = { ...outSize, data: new Uint8Array(outBytes) };
      sampler(picture, patch, got);
      plainSamplePatch(picture, patch, wanted);
      const skipped = sampledAtBorder(size, patch, outSize);
      const differing = got.data.filter(
        (value, i) =>
          !skipped.has(Math.floor(i / 3)) && Math.abs(value - (wanted.data[i] ?? NaN)) > LEVELS_OF_CUT_PLACES,
      );
      expect(differing.length).toBe(0);
    }),
  );
});
