/** Values of a metric's labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A count that only rises. */
export interface Counter<L extends Labels> {
  inc(labels: L, by?: number): void;
  /** The same with labels that are bound once: for what happens often. */
  at(labels: L): { inc(by?: number): void };
}

/** A value that is what it is now. */
export interface Gauge<L extends Labels> {
  set(labels: L, value: number): void;
  add(labels: L, change: number): void;
  /** Forgets every value, so that none is told that is not known any more. */
  reset(): void;
}

/** How values are spread, by cumulative buckets. */
export interface Histogram<L extends Labels> {
  /** A value that is not a finite number (it could not be measured) is left out. */
  observe(labels: L, value: number): void;
  /** The same with labels that are bound once: for what happens often. */
  at(labels: L): { observe(value: number): void };
}
