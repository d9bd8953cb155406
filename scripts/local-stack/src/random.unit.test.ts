import { createRandom, pick, pickWeighted } from './random';

describe('random choices', () => {
  it('are uniform in [0, 1)', () => {
    const random = createRandom(1, 'numbers');
    const tenths = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const tenth = Math.floor(random() * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10);
    // Five standard deviations of a binomial count are 150.
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

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
