import { Histogram } from '../measure/histogram';
import { type Distribution, type Quantiles } from './report';

/** Null of nothing. Three significant digits at least, as far as the histogram holds them. */
export function quantilesOf(histogram: Histogram): Quantiles | null {
  if (histogram.count === 0) return null;
  return {
    count: histogram.count,
    mean: rounded(histogram.mean),
    p50: rounded(histogram.quantile(0.5)),
    p90: rounded(histogram.quantile(0.9)),
    p99: rounded(histogram.quantile(0.99)),
    p999: rounded(histogram.quantile(0.999)),
    max: rounded(histogram.max),
  };
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
