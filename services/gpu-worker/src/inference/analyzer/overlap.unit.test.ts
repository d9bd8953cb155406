import { overlap } from './overlap';

describe('overlap', () => {
  const box = { x1: 0, y1: 0, x2: 10, y2: 10 };
  test('is intersection over union', () => {
    expect(overlap(box, box)).toBe(1);
    expect(overlap(box, { x1: 5, y1: 0, x2: 15, y2: 10 })).toBeCloseTo(1 / 3);
    expect(overlap(box, { x1: 10, y1: 10, x2: 20, y2: 20 })).toBe(0);
  });
});
