import { partWithFace } from './face-picture';

describe('the part of a picture with the face', () => {
  it('holds the head of who moves, closer than the whole picture', () => {
    const { x, y, width, height } = partWithFace({ x: 0.6, y: 0.3, width: 0.1, height: 0.5 }, 1080, 1920);
    expect(width / height).toBeCloseTo(14 / 9);
    expect(width).toBeLessThan(0.5 * 1080);
    // The head is in the middle, and begins below the upper edge.
    expect(x + width / 2).toBeCloseTo(0.65 * 1080);
    expect(y).toBeLessThan(0.3 * 1920);
    expect(y + height).toBeGreaterThan(0.35 * 1920);
  });

  it.each([
    ['nothing moves', null],
    ['all moves, as when the camera is held by hand', { x: 0.02, y: 0, width: 0.96, height: 1 }],
  ])('is in the upper half where %s', (_why, moving) => {
    const { x, y, width, height } = partWithFace(moving, 720, 1280);
    expect([x, width]).toEqual([0, 720]);
    expect(y + height / 2).toBeLessThan(640);
  });

  it('never leaves the picture', () => {
    for (const moving of [
      null,
      { x: 0, y: 0, width: 0.2, height: 0.1 },
      { x: 0.8, y: 0.9, width: 0.2, height: 0.1 },
    ])
      for (const [wide, high] of [
        [1920, 1080],
        [400, 400],
        [360, 640],
        [1000, 100],
      ] as const) {
        const { x, y, width, height } = partWithFace(moving, wide, high);
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(wide + 1e-6);
        expect(y + height).toBeLessThanOrEqual(high + 1e-6);
      }
  });
});
