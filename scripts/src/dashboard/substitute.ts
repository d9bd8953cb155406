import { type TimeRange } from './time-range';

/**
 * Replaces the variables of a query. Grafana's own keep their meaning: `$__rate_interval` is long enough to contain
 * four scrapes.
 */
export function substitute(
  text: string,
  variables: Readonly<Record<string, string>>,
  { from, to, step }: TimeRange,
  scrapeSeconds: number,
): string {
  const values: Readonly<Record<string, string>> = {
    ...variables,
    __range: `${Math.round(to - from)}s`,
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + scrapeSeconds, 4 * scrapeSeconds)}s`,
  };
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    const value = values[name];
    if (value === undefined) throw new Error(`nothing is given for the variable ${name}`);
    return value;
  });
}
