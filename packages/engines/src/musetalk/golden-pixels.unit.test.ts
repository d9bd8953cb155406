import {
  createCropFace,
  createMaskSoftener,
  createPasteFace,
  HALF_MASK_VALUES,
  MASK_SIZE,
} from '@lipsync/kernels';
import { upTo } from '../test/clips';
import {
  deviation,
  GOLDEN_FORMAT,
  goldenFrame,
  levelAt,
  musetalkPixels,
  pasteDeviation,
} from '../test/golden-pixels';
import { faceBox } from './faces';
import { createCropForParsing, createParsedMask, PARSING_SIDE, parsingSquare } from './parsing';
import { createParsingMask } from './parsing-mask';

const golden = musetalkPixels();
const SIDE = 256;
/** The settings of release 1.5. */
const CHEEKS = { leftCheek: 90, rightCheek: 90 } as const;
const BLUR = 0.05;

/** Levels of 255. Measured values are about two thirds of these. */
const CROPS = [
  { name: 'enlarged', index: 0, tolerance: { rms: 0.7, max: 2.5 } },
  // Every pixel counts; upstream's interpolation skips some.
  { name: 'reduced', index: 1, tolerance: { rms: 2.8, max: 17 } },
];

/**
 * Likewise; of the parser's input thousandths of a standard deviation, 17 of which are a level. The square around the
 * face is not rounded to pixels, and its mask has 128 cells per face.
 */
const ENLARGED = {
  parsed: { rms: 13, max: 60 },
  mask: { rms: 0.5, max: 5 },
  luma: { rms: 0.4, max: 2 },
  chroma: { rms: 0.45, max: 2 },
};
const REDUCED = {
  parsed: { rms: 45, max: 260 },
  mask: { rms: 1.2, max: 10 },
  luma: { rms: 0.45, max: 3 },
  chroma: { rms: 0.5, max: 3 },
};
/**
 * At odd edges the rows and columns at the border of the box share chroma samples with pixels outside. The last row lies
 * beyond the center of the mask's last cell, whose weight it takes; the samples of the even boxes do not hit it.
 */
const PASTES = [
  { name: 'enlarged', index: 0, tolerance: ENLARGED },
  { name: 'reduced', index: 1, tolerance: REDUCED },
  { name: 'enlarged, at odd edges', index: 2, tolerance: { ...ENLARGED, mask: { rms: 0.5, max: 15 } } },
  {
    name: 'reduced, at odd edges',
    index: 3,
    tolerance: { ...REDUCED, mask: { rms: 1.2, max: 30 }, luma: { rms: 0.45, max: 4 } },
  },
];
/** The paste whose box has an odd number of pixels along each side. */
const ODD_SIDES = 4;

/** Classes of a drawn face; the formula of `face_classes` in scripts/export/golden/pixel_inputs.py. */
const classes = Uint8Array.from({ length: PARSING_SIDE * PARSING_SIDE }, (_, i) => {
  const [x, y] = [i % PARSING_SIDE, Math.floor(i / PARSING_SIDE)];
  const isIn = (middle: number, across: number, down: number): boolean =>
    ((x - 256) / across) ** 2 + ((y - middle) / down) ** 2 < 1;
  if (isIn(340, 40.5, 10.5)) return 11;
  if (isIn(340, 60.5, 25.5)) return y < 340 ? 12 : 13;
  if (isIn(250, 28.5, 45.5)) return 10;
  if (isIn(250, 140.5, 180.5)) return 1;
  return Math.abs(x - 256) < 90 && y > 380 ? 14 : 0;
});

type RecordedPaste = (typeof golden.pastes)[number];

/** The paste with the face and its mask moved to the right. */
function pastedDeviation(paste: RecordedPaste, shift = 0) {
  const { box } = paste;
  const half = new Float32Array(HALF_MASK_VALUES);
  createParsedMask({ mode: 'jaw', ...CHEEKS })(classes, box, half, 0);
  const mask = new Float32Array(MASK_SIZE * MASK_SIZE);
  createMaskSoftener(BLUR)(half, 0, box, mask);
  const pasteFace = createPasteFace(GOLDEN_FORMAT, SIDE);
  const moved = { ...box, x1: box.x1 + shift, x2: box.x2 + shift };
  return pasteDeviation(paste, (frame, face) => pasteFace(frame, moved, face, 0, mask), SIDE);
}

describe('musetalk against upstream’s own pixels', () => {
  const BORDER = 'over the left border';
  const inside = golden.boxes.filter(({ name }) => name !== BORDER);

  test.each(inside)(
    'a face $name has upstream’s box where its points are rounded like upstream’s',
    (face) => {
      const points = Float32Array.from(face.landmarks, Math.floor);
      expect(faceBox(points, GOLDEN_FORMAT, face)).toEqual(face.box);
    },
  );

  test.each(inside)('a face $name keeps its fractions of a pixel otherwise', (face) => {
    // Upstream counts from the center of the first pixel, a track from its edge; upstream then rounds down. The upper
    // edge is twice the nose bridge less the chin.
    const found = faceBox(
      Float32Array.from(face.landmarks, (value) => value + 0.5),
      GOLDEN_FORMAT,
      face,
    );
    for (const edge of ['x1', 'y1', 'x2', 'y2'] as const) {
      const later = (found?.[edge] ?? NaN) - face.box[edge];
      expect(later).toBeGreaterThan(-0.5);
      expect(later).toBeLessThan(2.5);
    }
  });

  test('a face over the left border is cut off there; upstream takes its other detector’s box', () => {
    const face = golden.boxes.find(({ name }) => name === BORDER);
    if (!face) throw new Error('it is not recorded');
    const found = faceBox(Float32Array.from(face.landmarks), GOLDEN_FORMAT, face);
    expect([found?.x1, found?.y1, face.box.x1, face.box.y1]).toEqual([0, 128, 1, 110]);
  });

  test.each(['jaw', 'raw', 'neck'] as const)('the generated part of parsed classes, %s', (mode) => {
    const mask = new Uint8Array(classes.length);
    createParsingMask(PARSING_SIDE, { mode, ...CHEEKS })(classes, mask);
    const lines = upTo(PARSING_SIDE);
    const rows = lines.map((y) => lines.reduce((sum, x) => sum + (mask[y * PARSING_SIDE + x] ?? 0), 0));
    const columns = lines.map((x) => lines.reduce((sum, y) => sum + (mask[y * PARSING_SIDE + x] ?? 0), 0));
    expect({ rows, columns }).toEqual(golden.parsing[mode]);
  });

  describe.each(CROPS)('a face that is $name', ({ index, tolerance }) => {
    const crop = golden.crops[index];
    if (!crop) throw new Error('it is not recorded');
    const { box, picture } = crop;

    /** The crop of a box moved to the right. */
    const cropDeviation = (shift: number) => {
      const planes = new Float32Array(3 * SIDE * SIDE);
      const moved = { ...box, x1: box.x1 + shift, x2: box.x2 + shift };
      createCropFace(GOLDEN_FORMAT, SIDE)(goldenFrame(), moved, planes, 0);
      return deviation(picture, levelAt(planes, SIDE));
    };

    test('the crop', () => {
      const { rms, max } = cropDeviation(0);
      expect(rms).toBeLessThan(tolerance.rms);
      expect(max).toBeLessThan(tolerance.max);
    });

    test('a crop half a pixel off would not pass', () => {
      expect(cropDeviation(0.5).rms).toBeGreaterThan(tolerance.rms);
    });
  });

  describe.each(PASTES)('a face that is $name', ({ index, tolerance }) => {
    const paste = golden.pastes[index];
    if (!paste) throw new Error('it is not recorded');
    const { box } = paste;

    test('the parser’s input, except for the pixels that the border of the picture crosses', () => {
      const input = new Float32Array(3 * PARSING_SIDE * PARSING_SIDE);
      createCropForParsing(GOLDEN_FORMAT)(goldenFrame(), box, input, 0);
      const square = parsingSquare(box);
      const step = (square.x2 - square.x1) / PARSING_SIDE;
      const isClear = (place: number, length: number): boolean =>
        Math.min(Math.abs(place), Math.abs(place - length)) > 2;
      const { rms, max } = deviation(
        paste.parsed,
        (channel = NaN, y = NaN, x = NaN) =>
          1000 * (input[(channel * PARSING_SIDE + y) * PARSING_SIDE + x] ?? NaN),
        (_, y = NaN, x = NaN) =>
          isClear(square.x1 + (x + 0.5) * step, GOLDEN_FORMAT.width) &&
          isClear(square.y1 + (y + 0.5) * step, GOLDEN_FORMAT.height),
      );
      expect(rms).toBeLessThan(tolerance.parsed.rms);
      expect(max).toBeLessThan(tolerance.parsed.max);
    });

    test('the mask and the pasted face', () => {
      const found = pastedDeviation(paste);
      for (const part of ['mask', 'luma', 'chroma'] as const) {
        expect(found[part].rms).toBeLessThan(tolerance[part].rms);
        expect(found[part].max).toBeLessThan(tolerance[part].max);
      }
    });

    test('a paste half a pixel off would not pass', () => {
      const found = pastedDeviation(paste, 0.5);
      // Chroma is too smooth to show it.
      for (const part of ['mask', 'luma'] as const) {
        expect(found[part].rms).toBeGreaterThan(tolerance[part].rms);
      }
    });
  });

  test('a face with odd sides is masked where it is; upstream’s square around it is rounded, by half a pixel', () => {
    const paste = golden.pastes[ODD_SIDES];
    if (!paste) throw new Error('it is not recorded');
    const { mask, luma, chroma } = pastedDeviation(paste);
    // Half a pixel of the mask's slope, and what that makes of the picture.
    expect(mask.rms).toBeGreaterThan(1.2);
    expect(mask.rms).toBeLessThan(4);
    expect(mask.max).toBeLessThan(40);
    for (const { rms, max } of [luma, chroma]) {
      expect(rms).toBeLessThan(1);
      expect(max).toBeLessThan(10);
    }
  });
});
