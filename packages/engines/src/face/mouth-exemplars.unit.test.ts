import { type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { paintedLandmarks } from '../test/painted-landmarks';
import { landmark, landmarkCenter, LEFT_EYE, RIGHT_EYE } from './landmarks';
import {
  createCutMouth,
  EXEMPLAR_SIDE,
  type MouthExemplars,
  mouthLandmarks,
  mouthsAt,
  NO_MOUTHS,
} from './mouth-exemplars';

const format: PictureFormat = {
  width: 640,
  height: 480,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const ANGLES = [0, 0.4, -0.7];
const MIDDLE = EXEMPLAR_SIDE / 2;

const faceAt = (angle: number): Float32Array =>
  paintedLandmarks({ side: 0, x: 330, y: 260, half: 40 }, 8, angle);

test.each(ANGLES)('the picture of a face tilted by %d is upright, its mouth in the middle', (angle) => {
  const points = mouthLandmarks(faceAt(angle));
  const [left, right] = [landmarkCenter(points, LEFT_EYE), landmarkCenter(points, RIGHT_EYE)];
  expect(left.y).toBeCloseTo(right.y, 3);
  expect(right.x - left.x).toBeCloseTo(EXEMPLAR_SIDE / 1.6, 3);
  const [from, to] = [landmark(points, 48), landmark(points, 54)];
  expect((from.x + to.x) / 2).toBeCloseTo(MIDDLE, 3);
  expect((from.y + to.y) / 2).toBeCloseTo(MIDDLE, 3);
  expect(to.x).toBeGreaterThan(from.x);
  // The chin is below the mouth and in the picture.
  expect(landmark(points, 8).y).toBeGreaterThan(MIDDLE + 60);
  expect(landmark(points, 8).y).toBeLessThan(EXEMPLAR_SIDE);
});

test.each(ANGLES)('what lies at a landmark of a face tilted by %d lies at that of its picture', (angle) => {
  const cut = createCutMouth(format);
  const face = faceAt(angle);
  const { bytes, uOffset } = pictureLayout(format);
  const frame = new Uint8Array(bytes).fill(128);
  const dark = 60;
  frame.fill(dark, 0, uOffset);
  const marked = [48, 54, 57, 8];
  for (const index of marked) {
    const { x, y } = landmark(face, index);
    for (let row = Math.round(y) - 3; row < Math.round(y) + 3; row++)
      frame.fill(230, row * format.width + Math.round(x) - 3, row * format.width + Math.round(x) + 3);
  }
  const picture = cut(frame, face);
  const points = mouthLandmarks(face);
  for (let color = 0; color < 3; color++) {
    const level = (x: number, y: number): number =>
      picture[(color * EXEMPLAR_SIDE + Math.floor(y)) * EXEMPLAR_SIDE + Math.floor(x)] ?? NaN;
    for (const index of marked) {
      const { x, y } = landmark(points, index);
      expect(level(x, y)).toBeGreaterThan(200);
    }
    // Limited range: (60 − 16) · 255 / 219.
    expect(level(MIDDLE, MIDDLE + 20)).toBe(51);
  }
});

test('a mouth in ten bits is cut like one in eight', () => {
  const frame = Uint8Array.from({ length: pictureLayout(format).bytes }, (_, i) => 70 + (i % 61));
  const words = new Uint8Array(Uint16Array.from(frame, (code) => 4 * code).buffer);
  const face = faceAt(0.4);
  const cut = createCutMouth({ ...format, depth: 10 })(words, face);
  const far = createCutMouth(format)(frame, face).map((level, i) => Math.abs(level - (cut[i] ?? NaN)));
  expect(Math.max(...new Set(far))).toBeLessThanOrEqual(1);
});

test('a frame wears the mouth of its look, and none where there are no pictures', async () => {
  const mouths = [0, 1].map((): MouthExemplars => ({ ...NO_MOUTHS }));
  const track = { looks: Uint8Array.of(0, 1, 1) };
  const worn = await Promise.all([0, 1, 2].map((frame) => mouthsAt({ track, mouths }, frame)));
  expect(worn.map((each) => mouths.indexOf(each))).toEqual([0, 1, 1]);
  expect(await mouthsAt({ track, mouths: [] }, 2)).toBe(NO_MOUTHS);
});
