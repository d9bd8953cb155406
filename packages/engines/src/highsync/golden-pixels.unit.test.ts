import { BILINEAR, type Box, createCropFace, createPasteFace } from '@lipsync/kernels';
import { LANDMARK_COUNT } from '../face/landmarks';
import { drawnTrack } from '../test/clips';
import {
  deviation,
  GOLDEN_FORMAT,
  goldenFrame,
  highsyncPixels,
  levelAt,
  pasteDeviation,
} from '../test/golden-pixels';
import { highsyncFaces } from './faces';
import { RECTANGLE_FEATHER, rectangleBlendMask } from './mask';

const golden = highsyncPixels();
const SIDE = 512;
const LATENT = { channels: 4, height: 64, width: 64, scale: 0.18215 };
const [box = { x1: NaN, y1: NaN, x2: NaN, y2: NaN }] = golden.crops;

const isFound = ({ x1, x2 }: Box): boolean => x2 > x1;

/** Landmarks of a face whose box, from the lifted brows to the chin, is the given one. */
function landmarksOf({ x1, y1, x2, y2 }: Box): Float32Array {
  const noseBase = y1 + 0.6 * (y2 - y1);
  const brows = (y1 + 0.8 * noseBase) / 1.8;
  const points = Array.from({ length: LANDMARK_COUNT }, (_, i) => [
    i === 0 ? x1 : i === 16 ? x2 : (x1 + x2) / 2,
    i === 8 ? y2 : i >= 17 && i < 27 ? brows : noseBase,
  ]);
  return Float32Array.from(points.flat());
}

describe('highsync against upstream’s own pixels', () => {
  const track = drawnTrack(
    golden.boxes.map((face) => (isFound(face) ? landmarksOf(face) : null)),
    GOLDEN_FORMAT,
  );
  const { shots, crops } = highsyncFaces(track);

  test('shots end where upstream’s do', () => {
    const faced = golden.shots.filter((_, frame) => isFound(golden.boxes[frame] ?? box));
    const numbers = [...new Set(faced)];
    expect(numbers).toHaveLength(3);
    expect([...shots]).toEqual(
      golden.shots.map((shot, frame) => (isFound(golden.boxes[frame] ?? box) ? numbers.indexOf(shot) : -1)),
    );
  });

  test('crops are upstream’s, with one height where it has one, but not rounded down to pixels', () => {
    golden.crops.forEach((wanted, frame) => {
      if (!isFound(wanted)) return;
      [wanted.x1, wanted.y1, wanted.x2, wanted.y2].forEach((edge, i) => {
        const later = (crops[frame * 4 + i] ?? NaN) - edge;
        expect(later).toBeGreaterThan(-0.001);
        expect(later).toBeLessThan(1);
      });
    });
  });

  /** The first crop, moved to the right. */
  const cropDeviation = (shift: number) => {
    const planes = new Float32Array(3 * SIDE * SIDE);
    const moved = { ...box, x1: box.x1 + shift, x2: box.x2 + shift };
    createCropFace(GOLDEN_FORMAT, SIDE, BILINEAR)(goldenFrame(), moved, planes, 0);
    return deviation(golden.crop, levelAt(planes, SIDE));
  };

  test('the crop', () => {
    const { rms, max } = cropDeviation(0);
    expect(rms).toBeLessThan(0.7);
    // At its edges it is interpolated with pixels outside.
    expect(max).toBeLessThan(3.5);
  });

  test('a crop half a pixel off would not pass', () => {
    expect(cropDeviation(0.5).rms).toBeGreaterThan(1);
  });

  describe('the pasted face', () => {
    const pasteFace = createPasteFace(GOLDEN_FORMAT, SIDE);
    const mask = rectangleBlendMask(golden.rectangle, LATENT);
    const paste = (frame: Uint8Array, face: Float32Array, shift = 0): void =>
      pasteFace(frame, { ...box, x1: box.x1 + shift, x2: box.x2 + shift }, face, 0, mask);
    const { top, bottom, left, right } = golden.rectangle;
    /** The part of the frame that the rectangle covers, wider by a fraction of the crop on each side. */
    const rectangle = (wider: number): Box => ({
      x1: box.x1 + (left / LATENT.width - wider) * (box.x2 - box.x1),
      x2: box.x1 + ((right + 1) / LATENT.width + wider) * (box.x2 - box.x1),
      y1: box.y1 + (top / LATENT.height - wider) * (box.y2 - box.y1),
      y2: box.y1 + ((bottom + 1) / LATENT.height + wider) * (box.y2 - box.y1),
    });
    const within =
      ({ x1, y1, x2, y2 }: Box) =>
      (x: number, y: number): boolean =>
        x > x1 && x < x2 && y > y1 && y < y2;

    test('is upstream’s inside the rectangle, where neither mask fades', () => {
      const shown = rectangle(0);
      // Upstream fades over the last fifteenth of the crop.
      const pad = Math.min(box.x2 - box.x1, box.y2 - box.y1) / 15 + 2;
      const inner = {
        ...shown,
        x1: Math.max(shown.x1, box.x1 + pad),
        x2: Math.min(shown.x2, box.x2 - pad),
        y2: Math.min(shown.y2, box.y2 - pad),
      };
      const isInner = within(inner);
      const { luma, chroma } = pasteDeviation(golden.paste, paste, SIDE, isInner);
      // Upstream rounds down.
      expect(luma.rms).toBeLessThan(0.7);
      expect(luma.max).toBeLessThan(3);
      expect(chroma.rms).toBeLessThan(0.5);
      expect(chroma.max).toBeLessThan(2);
      // A paste half a pixel off would not pass.
      const off = pasteDeviation(golden.paste, (frame, face) => paste(frame, face, 0.5), SIDE, isInner);
      expect(off.luma.rms).toBeGreaterThan(0.7);
    });

    test('leaves the frame as it is around the rectangle, where upstream pastes all of the crop', () => {
      const frame = goldenFrame();
      paste(frame, new Float32Array(3 * SIDE * SIDE).fill(1));
      const source = goldenFrame();
      const isShown = within(rectangle(RECTANGLE_FEATHER + 0.02));
      const { width, height } = GOLDEN_FORMAT;
      let changed = 0;
      for (let i = 0; i < width * height; i++) {
        if (frame[i] !== source[i] && !isShown((i % width) + 0.5, Math.floor(i / width) + 0.5)) changed++;
      }
      expect(changed).toBe(0);
      expect(pasteDeviation(golden.paste, paste, SIDE).mask.max).toBe(255);
    });
  });
});
