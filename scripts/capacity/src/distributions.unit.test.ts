import { createRandom, mean } from './distributions';

describe('createRandom', () => {
  const draw = (next: () => number): number[] => Array.from({ length: 50_000 }, next);

  it('draws the same numbers for the same seed and others for another', () => {
    const first = draw(createRandom(1).uniform).slice(0, 20);
    expect(draw(createRandom(1).uniform).slice(0, 20)).toEqual(first);
    expect(draw(createRandom(2).uniform).slice(0, 20)).not.toEqual(first);
  });

  it.each([0.1, 0.5, 1, 2])('draws gamma distributed numbers with the mean and variation %p', (cv) => {
    const random = createRandom(4);
    const values = draw(() => random.gamma(3, cv));
    expect(mean(values) / 3).toBeCloseTo(1, 1);
    expect(variation(values) / cv).toBeCloseTo(1, 1);
  });

  it('draws a constant for a variation of 0, and exponential numbers for a variation of 1', () => {
    const random = createRandom(4);
    expect(random.gamma(3, 0)).toBe(3);
    expect(variation(draw(() => random.exponential(2)))).toBeCloseTo(1, 1);
  });
});

/** Coefficient of variation: standard deviation divided by mean; 0 for equal values, 1 for exponential ones. */
function variation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2))) / center;
}
