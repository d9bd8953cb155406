import { maskLowerHalf } from './features';

test('the upper half is kept and the lower half is black, in every channel and nowhere else', () => {
  const before = Float32Array.from({ length: 2 + 3 * 16 + 1 }, (_, i) => i / 100);
  const crops = before.slice();
  maskLowerHalf(crops, 2, 4);
  for (let i = 0; i < 48; i++) {
    const upper = i % 16 < 8;
    expect(crops[2 + i]).toBe(upper ? before[2 + i] : -1);
  }
  expect([crops[0], crops[1], crops[50]]).toEqual([before[0], before[1], before[50]]);
});
