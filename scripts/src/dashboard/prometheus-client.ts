import { type TimeRange } from './time-range';

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** One value per point of the range; NaN where it is missing. */
  readonly values: readonly number[];
}

interface RangeAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

/** The points in time of a range. */
export function pointsOf({ from, to, step }: TimeRange): number[] {
  return Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => from + index * step);
}

/** Queries a Prometheus server (HTTP API v1) for an expression over a range. */
export async function queryRange(baseUrl: string, query: string, range: TimeRange): Promise<Series[]> {
  const url = new URL('api/v1/query_range', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  const body = new URLSearchParams({
    ...{ query, start: String(range.from), end: String(range.to), step: String(range.step) },
  });
  const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(60_000) });
  const answer = (await response.json()) as RangeAnswer;
  if (answer.status !== 'success')
    throw new Error(`${query}: ${answer.error ?? `Prometheus answered ${response.status}`}`);
  const index = new Map(pointsOf(range).map((seconds, at) => [Math.round(seconds), at]));
  return (answer.data?.result ?? []).map(({ metric, values }) => {
    const all = new Array<number>(index.size).fill(NaN);
    for (const [seconds, value] of values) {
      const at = index.get(Math.round(seconds));
      if (at !== undefined) all[at] = Number(value.replace('Inf', 'Infinity'));
    }
    return { labels: metric, values: all };
  });
}
