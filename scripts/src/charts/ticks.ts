/** A value that an axis names. */
export interface Tick {
  readonly value: number;
  readonly label: string;
  /** Drawn lighter, without a label of its own being needed. */
  readonly minor?: boolean;
}

/** At the multiples of a step from `low` to `high`, with one that only rounding puts outside. */
export function evenTicks(step: number, low: number, high: number, label: (value: number) => string): Tick[] {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    // Adding 0 makes a negative zero a plain one.
    const value = (first + index) * step + 0;
    return { value, label: label(value) };
  });
}
