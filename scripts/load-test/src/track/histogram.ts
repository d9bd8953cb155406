import { createHistogram } from 'node:perf_hooks';
import { type Distribution, type Quantiles } from '../report/report';

/** 28 hours, in microseconds. */
const HIGHEST = 1e11;

/** The shares for which a distribution is given: every percent, and then nine more between each further nine. */
const SHARES = [
  ...Array.from({ length: 99 }, (_, i) => (i + 1) / 100),
  ...[1e-3, 1e-4, 1e-5].flatMap((step) => Array.from({ length: 9 }, (_, i) => 1 - (9 - i) * step)),
];

/**
 * Durations in milliseconds, in constant memory (32 KiB) for any number of them: an HDR histogram of microseconds with
 * two significant digits, so a figure is at most 0.8 % above the exact one and never below it.
 */
export class Histogram {
  readonly #microseconds = createHistogram({ lowest: 1, highest: HIGHEST, figures: 2 });

  record(ms: number): void {
    this.#microseconds.record(Math.min(HIGHEST, Math.max(1, Math.round(ms * 1000))));
  }

  get count(): number {
    return this.#microseconds.count;
  }

  /** The value that a share `q` of all values does not exceed. 0 without values. */
  quantile(q: number): number {
    return rounded(this.#microseconds.percentile(q * 100) / 1000);
  }

  /** Null without values. */
  quantiles(): Quantiles | null {
    const { count, mean, max } = this.#microseconds;
    if (count === 0) return null;
    const beyond = (q: number, needed: number): number | null => (count < needed ? null : this.quantile(q));
    return {
      count,
      mean: rounded(mean / 1000),
      p50: this.quantile(0.5),
      p90: beyond(0.9, 10),
      p99: beyond(0.99, 100),
      p999: beyond(0.999, 1000),
      max: rounded(max / 1000),
    };
  }

  /** The cumulative distribution, up to the last share that leaves out at least one value, and all of them. */
  distribution(): Distribution {
    const { count } = this;
    const shares = count === 0 ? [] : [...SHARES.filter((share) => (1 - share) * count > 0.999), 1];
    return {
      share: shares.map((share) => Number(share.toFixed(5))),
      at: shares.map((share) => this.quantile(share)),
    };
  }
}

/** The 99th percentile, or the maximum when there are too few values for one. */
export function worstOf({ p99, max }: Quantiles): { name: 'p99' | 'max'; ms: number } {
  return p99 === null ? { name: 'max', ms: max } : { name: 'p99', ms: p99 };
}

export function histogramOf(values: Iterable<number>): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
