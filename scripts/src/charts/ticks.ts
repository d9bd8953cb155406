/** A labelled value on an axis. */
export interface Tick {
  readonly value: number;
  readonly label: string;
  /** Drawn lighter, and may have no label. */
  readonly minor?: boolean;
}

/** Ticks at the multiples of a step from `low` to `high`, including one that is outside only through rounding. */
export function evenTicks(step: number, low: number, high: number, label: (value: number) => string): Tick[] {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    // Adding 0 turns negative zero into zero.
    const value = (first + index) * step + 0;
    return { value, label: label(value) };
  });
}
