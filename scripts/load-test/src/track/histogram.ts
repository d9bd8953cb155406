import { type Distribution, type Quantiles } from '../report/report';

/** The range is a microsecond to 28 hours, in milliseconds. */
const LOWEST_MS = 1e-3;
const HIGHEST_MS = 1e8;
/** Neighboring buckets differ by this factor, so the error of a quantile is at most half a percent. */
const GROWTH = 1.01;
const LOG_GROWTH = Math.log(GROWTH);
const BUCKETS = Math.ceil(Math.log(HIGHEST_MS / LOWEST_MS) / LOG_GROWTH) + 1;

/**
 * Durations in buckets of equal relative width: constant memory (10 KiB) for any number of values, quantiles within
 * ±0.5 % (the mapping of DDSketch, Masson, Rim and Lee, VLDB 2019, with a fixed range).
 */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  record(ms: number): void {
    const value = Math.min(HIGHEST_MS, Math.max(0, ms));
    const bucket = bucketOf(value);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count++;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  get count(): number {
    return this.#count;
  }

  /** Exact. NaN without values, like every figure here. */
  get mean(): number {
    return this.#sum / this.#count;
  }

  get max(): number {
    return this.#count === 0 ? NaN : this.#max;
  }

  /** The value that a share `q` of all values does not exceed (nearest rank). */
  quantile(q: number): number {
    if (this.#count === 0) return NaN;
    const rank = Math.max(1, Math.ceil(q * this.#count));
    if (rank >= this.#count) return this.#max;
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket] ?? 0;
      if (seen >= rank) return Math.min(this.#max, Math.max(this.#min, middleOf(bucket)));
    }
    return this.#max;
  }

  /** The cumulative distribution: for every non-empty bucket, the share of values up to it. */
  *cumulative(): Generator<{ ms: number; share: number }, void, undefined> {
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.#counts[bucket] ?? 0;
      if (count === 0) continue;
      seen += count;
      const ms = Math.min(this.#max, Math.max(this.#min, middleOf(bucket)));
      yield { ms, share: seen / this.#count };
    }
  }
}

function bucketOf(ms: number): number {
  return ms <= LOWEST_MS ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / LOWEST_MS) / LOG_GROWTH));
}

/** The geometric mean of the bucket's ends. */
function middleOf(bucket: number): number {
  return LOWEST_MS * GROWTH ** (bucket - 0.5);
}

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
