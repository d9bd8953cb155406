import { maskLowerHalf } from './lower-half-mask';

test('the upper half is kept and the lower half is black, in every channel and nowhere else', () => {
  const crop = Float32Array.from({ length: 2 + 3 * 16 }, (_, i) => i / 100);
  const target = new Float32Array(1 + 3 * 16 + 1).fill(5);
  maskLowerHalf(crop, 2, 4, target, 1);
  for (let i = 0; i < 48; i++) {
    const upper = i % 16 < 8;
    expect(target[1 + i]).toBe(upper ? crop[2 + i] : -1);
  }
  expect([target[0], target[49]]).toEqual([5, 5]);
});
