import {
  type Affine,
  createAlignedCrop,
  createAlignedPaste,
  invertAffine,
  type Point,
} from '@lipsync/kernels';
import { drawnTrack } from '../test/clips';
import {
  deviation,
  GOLDEN_FORMAT,
  goldenFrame,
  latentsyncPixels,
  levelAt,
  pasteDeviation,
} from '../test/golden-pixels';
import { alignedFaces, alignedSize, transformAt } from './faces';
import { inpaintMask, softMask } from './mask';

const golden = latentsyncPixels();
type Face = (typeof golden.faces)[number];

const map = ({ a, b, c, d, e, f }: Affine, { x, y }: Point): Point => ({
  x: a * x + b * y + c,
  y: d * x + e * y + f,
});

/** The transform of a face that is this many pixels of the frame further right. */
const movedBy = (transform: Affine, shift: number): Affine => ({
  ...transform,
  c: transform.c - shift * transform.a,
  f: transform.f - shift * transform.d,
});

/** Upstream's transform, from pixel centers to pixel edges and with the stretch to the square. */
function publishedTransform({ side, matrix: [a, b, c, d, e, f] }: Face): Affine {
  const { width, height } = alignedSize(side);
  const across = side / width;
  const down = side / height;
  return {
    ...{ a: a * across, b: b * across, c: (c + 0.5 - (a + b) / 2) * across },
    ...{ d: d * down, e: e * down, f: (f + 0.5 - (d + e) / 2) * down },
  };
}

/** The service's transform of a face that stands still. */
function serviceTransform({ landmarks, side }: Face): Affine {
  // Upstream counts from the center of the first pixel, a track from its edge.
  const face = landmarks.map((value) => value + 0.5);
  const transform = transformAt(alignedFaces(drawnTrack([face, face], GOLDEN_FORMAT), side), 0);
  if (transform === null) throw new Error('no face');
  return transform;
}

/** How far the corners of upstream's crop are from those of the service, in pixels of the crop. */
function distance(face: Face): number {
  const corners = [0, face.side].flatMap((x) => [0, face.side].map((y) => ({ x, y })));
  const back = invertAffine(publishedTransform(face));
  const places = corners.map((corner) => map(serviceTransform(face), map(back, corner)));
  return Math.max(
    ...places.map(({ x, y }, i) => Math.hypot(x - (corners[i]?.x ?? NaN), y - (corners[i]?.y ?? NaN))),
  );
}

const BORDER = 'over the right border';
const named = (name: string): Face[] => golden.faces.filter((face) => face.name === name);
/** Faces whose brows and nose have their means on whole pixels, to which upstream rounds them. */
const whole = golden.faces.filter((face) => face.name !== 'between pixels');

describe('latentsync against upstream’s own pixels', () => {
  test.each(whole)('the alignment of a face, $name, at $side', (face) => {
    expect(distance(face)).toBeLessThan(0.01);
  });

  test.each(named('between pixels'))('a face $name is not aligned to rounded points', (face) => {
    expect(distance(face)).toBeGreaterThan(0.1);
    // Half a pixel in each of three points, which are a third of the crop apart.
    expect(distance(face)).toBeLessThan(2);
  });

  test.each([0, 1])('the mask at side number %i', (index) => {
    const samples = golden.masks[index];
    if (!samples) throw new Error('it is not recorded');
    const [side = NaN] = samples.shape;
    const generated = inpaintMask(golden.mask, side);
    const levels = (y = NaN, x = NaN): number => Math.round(255 * (1 - (generated[y * side + x] ?? NaN)));
    expect(deviation(samples, levels).max).toBe(0);
  });

  const generated = softMask(inpaintMask(golden.mask, 256), 256);

  describe.each(golden.faces)('a face $name at $side', (face) => {
    const { side } = face;
    const { width, height } = GOLDEN_FORMAT;
    const transform = publishedTransform(face);
    const back = invertAffine(transform);
    /** Whether a pixel of the crop shows the frame, or its surroundings up to this many pixels of the frame. */
    const isInFrame =
      (around: number) =>
      (row = NaN, column = NaN): boolean => {
        const { x, y } = map(back, { x: column + 0.5, y: row + 0.5 });
        return x > -around && x < width + around && y > -around && y < height + around;
      };

    /** The crop `shift` pixels of the frame off. */
    const cropped = (shift = 0) => {
      const planes = new Float32Array(3 * side * side);
      createAlignedCrop(GOLDEN_FORMAT, side)(goldenFrame(), movedBy(transform, shift), planes, 0);
      return levelAt(planes, side);
    };

    test('the crop', () => {
      const level = cropped();
      // One cubic resampling, where upstream has two, of which the first rounds down.
      const inside = deviation(face.crop, (...at) => level(...at) - 0.5, isInFrame(-2));
      expect(inside.rms).toBeLessThan(2);
      expect(inside.max).toBeLessThan(12);
    });

    test('more than eight pixels beyond the border, the crop is upstream’s gray', () => {
      const { a, b, d, e } = transform;
      const perPixel = Math.max(1 / Math.hypot(a, b), 1 / Math.hypot(d, e));
      const isNear = isInFrame(10 * perPixel);
      const surroundings = deviation(face.crop, cropped(), (...at) => !isNear(...at));
      // To a hundredth of a level; NaN where the crop ends before.
      expect(Math.round(100 * surroundings.rms)).toBe(face.name === BORDER ? 0 : NaN);
    });

    test('a crop half a pixel off would not pass', () => {
      expect(deviation(face.crop, cropped(0.5), isInFrame(-2)).rms).toBeGreaterThan(2);
    });

    test('the pasted face, where it is generated and neither mask fades', () => {
      // At 512 pixels a mask would take seconds to make. Only what it shows entirely is compared.
      const mask = side === 256 ? generated : new Float32Array(side * side).fill(1);
      const paste = createAlignedPaste(GOLDEN_FORMAT, side, mask);
      const isInner = (x: number, y: number): boolean => {
        const place = map(transform, { x, y });
        const isWithin = (at: number, from: number, to: number): boolean =>
          at > from * side && at < to * side;
        // Upstream also fades along the border of the picture.
        return isWithin(place.x, 0.2, 0.8) && isWithin(place.y, 0.55, 0.75) && x < width - 16;
      };
      const pasted = (shift: number) => {
        const moved = movedBy(transform, shift);
        return pasteDeviation(face, (frame, image) => paste(frame, moved, image, 0), side, isInner);
      };
      const { luma, chroma } = pasted(0);
      // Upstream rounds down.
      expect(luma.rms).toBeLessThan(1.2);
      expect(luma.max).toBeLessThan(3);
      expect(chroma.rms).toBeLessThan(0.5);
      expect(chroma.max).toBeLessThan(2);
      // A paste half a pixel off would not pass.
      expect(pasted(0.5).luma.rms).toBeGreaterThan(1.2);
    });
  });

  describe('the soft box, before it is multiplied by the mask', () => {
    const box = softMask(new Float32Array(256 * 256).fill(1), 256);
    const maskDeviation = (face: Face) => {
      const paste = createAlignedPaste(GOLDEN_FORMAT, 256, box);
      const transform = publishedTransform(face);
      return pasteDeviation(face, (frame, image) => paste(frame, transform, image, 0), 256).mask;
    };

    test.each(named('between pixels'))(
      'is upstream’s around an upright face, but for its rounding',
      (face) => {
        // It counts its border in whole pixels, and erodes by one more on two sides: a pixel is 21 levels.
        const { rms, max } = maskDeviation(face);
        expect(rms).toBeLessThan(10);
        expect(max).toBeLessThan(40);
      },
    );

    test.each(whole.filter(({ side }) => side === 256))('is wider around a face $name', (face) => {
      // Upstream erodes with an upright square, which takes more of a turned box.
      const { rms, max, least } = maskDeviation(face);
      expect(rms).toBeLessThan(25);
      expect(max).toBeGreaterThan(40);
      expect(least).toBeGreaterThan(-40);
    });
  });
});
