/** Values of a metric's labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A count that only increases. */
export interface Counter<L extends Labels> {
  inc(labels: L, by?: number): void;
  /** The same with labels bound in advance, for frequent events. */
  at(labels: L): { inc(by?: number): void };
}

/** A value that can go up and down. */
export interface Gauge<L extends Labels> {
  set(labels: L, value: number): void;
  add(labels: L, change: number): void;
  /** Forgets every value, so that stale values are not reported. */
  reset(): void;
}

/** A distribution of values, in cumulative buckets. */
export interface Histogram<L extends Labels> {
  /** Ignores a value that is not a finite number (it could not be measured). */
  observe(labels: L, value: number): void;
  /** The same with labels bound in advance, for frequent events. */
  at(labels: L): { observe(value: number): void };
}
