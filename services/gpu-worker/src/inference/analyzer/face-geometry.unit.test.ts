import { facePatch, landmarkBounds, overlap } from './face-geometry';

describe('facePatch', () => {
  test('is turned with the eyes and as wide as the turned landmarks', () => {
    const points = new Float32Array(136).fill(50);
    const put = (index: number, x: number, y: number): void => points.set([x, y], index * 2);
    for (let i = 36; i < 42; i++) put(i, 40, 40);
    for (let i = 42; i < 48; i++) put(i, 60, 60);
    put(0, 20, 20);
    put(16, 80, 80);

    const patch = facePatch(points, 1.5);

    expect(patch.angle).toBeCloseTo(Math.PI / 4);
    expect(patch.x).toBeCloseTo(50);
    expect(patch.y).toBeCloseTo(50);
    expect(patch.side).toBeCloseTo(1.5 * Math.hypot(60, 60));
    expect(landmarkBounds(points)).toEqual({ x1: 20, y1: 20, x2: 80, y2: 80 });
  });
});

describe('overlap', () => {
  const box = { x1: 0, y1: 0, x2: 10, y2: 10 };
  test('is intersection over union', () => {
    expect(overlap(box, box)).toBe(1);
    expect(overlap(box, { x1: 5, y1: 0, x2: 15, y2: 10 })).toBeCloseTo(1 / 3);
    expect(overlap(box, { x1: 10, y1: 10, x2: 20, y2: 20 })).toBe(0);
  });
});
