import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks';
import { drawnTrack } from '../test/clips';
import { alignedFaces, enlargementAt, transformAt } from './faces';

describe('aligned faces', () => {
  const SIDE = 256;

  /** The relevant landmarks of a face with the middles of its brows and the mean of its nose at the given points. */
  function face(
    leftBrow: [number, number],
    rightBrow: [number, number],
    nose: [number, number],
  ): Float32Array {
    const points = new Float32Array(LANDMARK_VALUES);
    for (let i = 0; i < 68; i++) {
      const [x, y] = i >= 17 && i < 22 ? leftBrow : i >= 22 && i < 27 ? rightBrow : nose;
      const down = i >= 27 && i < 36 ? 5 * (i - 31) : 0;
      points.set([x, y + down], i * 2);
    }
    return points;
  }

  const trackOf = (faces: readonly (Float32Array | null)[], cuts: readonly number[] = []): FaceTrack =>
    drawnTrack(faces, { width: 1280, height: 720 }, cuts);

  const still = (dx = 0, dy = 0): Float32Array =>
    face([400.5 + dx, 300.5 + dy], [520.5 + dx, 310.5 + dy], [455.5 + dx, 360.5 + dy]);

  const apply = (transforms: Float32Array, frame: number, x: number, y: number) => {
    const { a = NaN, b = NaN, c = NaN, d = NaN, e = NaN, f = NaN } = transformAt(transforms, frame) ?? {};
    return { x: a * x + b * y + c, y: d * x + e * y + f };
  };

  test('a face at rest is aligned as published, then stretched from 3:4 to the square', () => {
    const transforms = alignedFaces(trackOf([still(), still(), still()]), SIDE);
    // Pixel centers: the published transform of pixel (455, 360), with its bias, in the 210 × 280 aligned face.
    const x = 0.9634888 * 455 + 0.081967 * 360 - 363.02429;
    const y = -0.081967 * 455 + 0.9634888 * 360 - 199.24814;
    const nose = apply(transforms, 1, 455.5, 360.5);
    expect(nose.x).toBeCloseTo(((x + 0.5) * 256) / 210, 3);
    expect(nose.y).toBeCloseTo(((y + 0.5) * 256) / 280, 3);
  });

  test('a crop of twice the side shows the same part of the frame', () => {
    const track = trackOf([still()]);
    const small = apply(alignedFaces(track, 256), 0, 470, 400);
    const large = apply(alignedFaces(track, 512), 0, 470, 400);
    // The template counts from pixel centers and the bias in pixels, at any size: half a pixel's difference.
    expect(Math.abs(large.x - 2 * small.x)).toBeLessThan(1);
    expect(Math.abs(large.y - 2 * small.y)).toBeLessThan(1);
  });

  test('jitter of the landmarks is smoothed, and a steady motion is followed without lag', () => {
    const frames = Array.from({ length: 61 }, (_, i) => still(2 * i + (i % 2 === 0 ? 1.5 : -1.5), 0));
    const transforms = alignedFaces(trackOf(frames), SIDE);
    // Position of the middle of the moving face in the crop, frame by frame.
    const seen = Array.from({ length: 61 }, (_, i) => apply(transforms, i, 455.5 + 2 * i, 360.5).x);
    const [first = NaN] = seen.slice(10);
    for (const x of seen.slice(10, 51)) expect(Math.abs(x - first)).toBeLessThan(0.1);
  });

  test('nothing is smoothed across a cut or a gap', () => {
    const shots = [
      still(),
      still(),
      still(),
      null,
      still(300, 50),
      still(300, 50),
      still(-200, 20),
      still(-200, 20),
    ];
    const transforms = alignedFaces(trackOf(shots, [6]), SIDE);
    const alone = (points: Float32Array) => alignedFaces(trackOf([points, points]), SIDE).subarray(0, 6);
    expect(transforms.subarray(12, 18)).toEqual(alone(still()));
    expect(transformAt(transforms, 3)).toBeNull();
    expect(transforms.subarray(24, 30)).toEqual(alone(still(300, 50)));
    expect(transforms.subarray(36, 42)).toEqual(alone(still(-200, 20)));
  });

  /** A face in the middle of the picture, turned by this angle. */
  function turned(turn: number): Float32Array {
    const at = (x: number, y: number): [number, number] => [
      600 + x * Math.cos(turn) - y * Math.sin(turn),
      360 + x * Math.sin(turn) + y * Math.cos(turn),
    ];
    return face(at(-60, -40), at(60, -40), at(0, 20));
  }

  test('a head that shakes keeps its size, although the mean of its directions is shorter than each', () => {
    const enlargementOf = (turns: readonly number[]): number =>
      enlargementAt(alignedFaces(trackOf(turns.map(turned)), SIDE), 20);
    const shaking = Array.from({ length: 41 }, (_, i) => (i % 2 === 0 ? 0.6 : -0.6));
    expect(enlargementOf(shaking)).toBeCloseTo(enlargementOf(shaking.map(() => 0)), 3);
  });

  test('a head that turns on its side is followed all the way', () => {
    const frames = Array.from({ length: 80 }, (_, i) => turned((i / 79) * 2.5 * Math.PI));
    const transforms = alignedFaces(trackOf(frames), SIDE);
    const upright = apply(transforms, 0, 600, 450);
    for (let i = 0; i < 80; i++) {
      const turn = (i / 79) * 2.5 * Math.PI;
      // A point below the nose must also be below it in the crop.
      const chin = apply(transforms, i, 600 - 90 * Math.sin(turn), 360 + 90 * Math.cos(turn));
      expect(Math.abs(chin.x - upright.x)).toBeLessThan(3);
      expect(Math.abs(chin.y - upright.y)).toBeLessThan(3);
    }
  });

  test.each([
    ['whose landmarks coincide', face([5, 5], [5, 5], [5, 5])],
    ['far outside the picture', still(5000, 0)],
    ['of a few pixels', face([400, 300], [404, 300], [402, 302])],
  ])('a face %s counts as none', (_, points) => {
    expect(transformAt(alignedFaces(trackOf([points]), SIDE), 0)).toBeNull();
  });

  test('the enlargement of a crop is that of its wider direction, and zero without a face', () => {
    // Twice as many crop pixels as picture pixels across, half as many down, rotated by a quarter turn.
    const transforms = Float32Array.of(0, 2, 5, -0.5, 0, 7, 0, 0, 0, 0, 0, 0);
    expect([enlargementAt(transforms, 0), enlargementAt(transforms, 1)]).toEqual([2, 0]);
  });
});
