import { createRandom, pick, pickWeighted } from './random';

describe('random choices', () => {
  it('follow their weights, and never choose what has none', () => {
    const random = createRandom(1, 'weights');
    const counts = { often: 0, seldom: 0, never: 0 };
    for (let i = 0; i < 10_000; i++) counts[pickWeighted({ often: 3, seldom: 1, never: 0 }, random)]++;
    expect(counts.never).toBe(0);
    expect(counts.often / counts.seldom).toBeCloseTo(3, 0);
  });

  it('refuse to choose from nothing', () => {
    const random = createRandom(1, 'nothing');
    expect(() => pick([], random)).toThrow(RangeError);
    expect(() => pickWeighted({ never: 0 }, random)).toThrow(RangeError);
  });
});
