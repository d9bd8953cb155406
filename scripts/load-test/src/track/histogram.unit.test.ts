import { createRandom } from '@lipsync/local-stack';
import { histogramOf, worstOf } from './histogram';

const same = (count: number) => histogramOf(Array.from({ length: count }, () => 1));

describe('Histogram', () => {
  it('gives quantiles that are at most 0.8 % above a value of that rank', () => {
    const random = createRandom(1, 'values');
    for (let run = 0; run < 100; run++) {
      // Spread evenly over the decades from a tenth of a millisecond to a day.
      const values = Array.from({ length: 1 + Math.floor(random() * 200) }, () => 10 ** (random() * 9 - 1));
      const sorted = [...values].sort((a, b) => a - b);
      const q = random();
      const rank = Math.max(1, Math.round(q * sorted.length));
      const ratio = histogramOf(values).quantile(q) / (sorted[rank - 1] ?? NaN);
      expect(ratio).toBeGreaterThan(0.994);
      expect(ratio).toBeLessThan(1.009);
    }
  });

  it('assigns values outside its range to its ends', () => {
    const { mean, max, p50 } = histogramOf([-5, 0, 1e12]).quantiles() ?? {};
    expect(max).toBeCloseTo(1e8, -6);
    expect(mean).toBeCloseTo(1e8 / 3, -6);
    expect(p50).toBe(0.001);
  });

  it('reports no percentile that too few values lie beyond, and the maximum instead of the 99th', () => {
    expect(same(9).quantiles()).toMatchObject({ p90: null, p99: null, p999: null });
    expect(same(99).quantiles()).toMatchObject({ p90: 1.003, p99: null, p999: null });
    expect(same(1_000).quantiles()).toMatchObject({ p99: 1.003, p999: 1.003 });
    expect(same(0).quantiles()).toBeNull();
    const few = histogramOf([0.01, 0.02, 0.03]).quantiles();
    expect(few && worstOf(few)).toEqual({ name: 'max', ms: 0.03 });
  });

  it('gives the distribution up to the last share that leaves a value out, and all of them', () => {
    const { share, at } = histogramOf([0.01, 0.01, 0.03, 0.1]).distribution();
    expect(share.slice(-2)).toEqual([0.75, 1]);
    expect(at.slice(-2)).toEqual([0.03, 0.1]);
    expect(same(1_000).distribution().share.slice(-2)).toEqual([0.999, 1]);
    expect(same(0).distribution()).toEqual({ share: [], at: [] });
  });
});
