import { type Series } from './prometheus-client';

/** One line of a chart. */
export interface NamedSeries {
  readonly name: string;
  readonly values: readonly number[];
}

/** A series with the name that its panel gives it: `{{label}}` stands for the value of a label. */
export function nameSeries({ labels, values }: Series, legendFormat: string): NamedSeries {
  const name = legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => labels[label] ?? '');
  return { name: name.trim(), values };
}

export function finite(values: readonly number[]): number[] {
  return values.filter((value) => Number.isFinite(value));
}

/** The last value present; NaN if there is none. */
export function lastOf(values: readonly number[]): number {
  return finite(values).at(-1) ?? NaN;
}
