import { cpus } from 'node:os';

export interface Machine {
  node: string;
  cpus: number;
  cpu: string | undefined;
}

/** The machine that a benchmark's seconds refer to; only its ratios carry over to others. */
export function machine(): Machine {
  return { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
}

/** Prints what was measured as one JSON object, with so many significant digits. */
export function printFigures(figures: object, digits: number): void {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(digits)) : value;
  console.log(JSON.stringify(figures, rounded, 2));
}

/** NaN for an empty list. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The middle of an odd number of values, the mean of the middle two of an even number; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** The value that a share `q` of the values does not exceed (nearest rank); NaN for an empty list. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}
