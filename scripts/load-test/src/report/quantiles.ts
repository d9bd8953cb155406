import { Histogram } from '../measure/histogram';
import { type Distribution, type Quantiles } from './report';

/** Null without values. At least three significant digits, within the histogram's precision. */
export function quantilesOf(histogram: Histogram): Quantiles | null {
  if (histogram.count === 0) return null;
  return {
    count: histogram.count,
    mean: rounded(histogram.mean),
    p50: rounded(histogram.quantile(0.5)),
    p90: beyond(histogram, 0.9, 10),
    p99: beyond(histogram, 0.99, 100),
    p999: beyond(histogram, 0.999, 1000),
    max: rounded(histogram.max),
  };
}

function beyond(histogram: Histogram, q: number, needed: number): number | null {
  return histogram.count < needed ? null : rounded(histogram.quantile(q));
}

/** The 99th percentile, or the maximum when there are too few values for one. */
export function worstOf({ p99, max }: Quantiles): { name: 'p99' | 'max'; ms: number } {
  return p99 === null ? { name: 'max', ms: max } : { name: 'p99', ms: p99 };
}

export function distributionOf(histogram: Histogram): Distribution {
  const points = [...histogram.cumulative()];
  return {
    share: points.map(({ share }) => Number(share.toPrecision(7))),
    at: points.map(({ ms }) => rounded(ms)),
  };
}

export function histogramOf(values: Iterable<number>): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
