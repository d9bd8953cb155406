import { createRandom } from '@lipsync/local-stack';
import { Histogram } from './histogram';

function filled(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

describe('Histogram', () => {
  it('gives every quantile within half a percent of the exact one', () => {
    const random = createRandom(1, 'values');
    for (let run = 0; run < 300; run++) {
      // Spread evenly over all eleven decades.
      const values = Array.from({ length: 1 + Math.floor(random() * 200) }, () => 10 ** (random() * 11 - 3));
      const sorted = [...values].sort((a, b) => a - b);
      const q = random();
      const exact = sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1] ?? NaN;
      expect(Math.abs(filled(values).quantile(q) / exact - 1)).toBeLessThanOrEqual(0.00501);
    }
  });

  it('keeps count, mean and maximum exactly', () => {
    const histogram = filled([3, 1, 2]);
    expect([histogram.count, histogram.mean, histogram.max]).toEqual([3, 2, 3]);
    expect(histogram.quantile(1)).toBe(3);
  });

  it('assigns values outside its range to its ends', () => {
    const histogram = filled([-5, 0, 1e12]);
    expect(histogram.mean).toBe(1e8 / 3);
    expect(histogram.max).toBe(1e8);
    expect(histogram.quantile(0.5)).toBeLessThanOrEqual(0.001);
  });

  it('accumulates to one, with both values and shares ascending', () => {
    const points = [...filled([1, 1, 10, 100]).cumulative()];
    expect(points.map(({ share }) => share)).toEqual([0.5, 0.75, 1]);
    expect(points.map(({ ms }) => Math.round(ms))).toEqual([1, 10, 100]);
  });

  it('has no figures without values', () => {
    const histogram = new Histogram();
    expect([histogram.mean, histogram.max, histogram.quantile(0.5)]).toEqual([NaN, NaN, NaN]);
    expect([...histogram.cumulative()]).toEqual([]);
  });
});
