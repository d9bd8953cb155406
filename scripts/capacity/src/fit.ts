import { quantile } from '@lipsync/local-stack';
import { type MeasuredRender, modelSeconds, type ServiceModel } from './profile';

interface Observation {
  readonly mediaSeconds: number;
  readonly analyzedSeconds: number;
  readonly serviceSeconds: number;
}

const PARTS = ['fixed_seconds', 'seconds_per_media_second', 'analysis_seconds_per_video_second'] as const;
type Part = (typeof PARTS)[number];

/**
 * Fits the model to the observations: least squares over its three parts, none of them negative. A part that would be
 * negative is left out, and the others are fitted again.
 */
export function fitModel(observations: readonly Observation[]): ServiceModel {
  const rows = observations.map(({ mediaSeconds, analyzedSeconds, serviceSeconds }) => ({
    terms: {
      fixed_seconds: 1,
      seconds_per_media_second: mediaSeconds,
      analysis_seconds_per_video_second: analyzedSeconds,
    },
    serviceSeconds,
  }));
  let parts: Part[] = PARTS.filter((part) =>
    varies(
      rows.map(({ terms }) => terms[part]),
      part,
    ),
  );
  for (;;) {
    const found = solve(
      parts.map((a) => parts.map((b) => sum(rows, ({ terms }) => terms[a] * terms[b]))),
      parts.map((a) => sum(rows, ({ terms, serviceSeconds }) => terms[a] * serviceSeconds)),
    );
    const worst = Math.min(...found);
    if (worst >= 0 || parts.length === 1) {
      const value = (part: Part): number => Math.max(0, found[parts.indexOf(part)] ?? 0);
      const model = {
        fixed_seconds: value('fixed_seconds'),
        seconds_per_media_second: value('seconds_per_media_second'),
        analysis_seconds_per_video_second: value('analysis_seconds_per_video_second'),
      };
      return { ...model, scatter: scatterOf({ ...model, scatter: 0 }, observations) };
    }
    const negative = parts[found.indexOf(worst)];
    parts = parts.filter((part) => part !== negative);
  }
}

/** A part whose term is constant cannot be distinguished from the fixed part. */
function varies(terms: readonly number[], part: Part): boolean {
  return part === 'fixed_seconds' || terms.some((term) => Math.abs(term - (terms[0] ?? 0)) > 1e-3);
}

function scatterOf(model: ServiceModel, observations: readonly Observation[]): number {
  const ratios = observations.map(
    ({ mediaSeconds, analyzedSeconds, serviceSeconds }) =>
      serviceSeconds / modelSeconds(model, mediaSeconds, analyzedSeconds),
  );
  return Math.sqrt(sum(ratios, (ratio) => (ratio - 1) ** 2) / ratios.length);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Gauss-Jordan elimination with pivoting, for the two or three unknowns of a model. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  rows.forEach((_, column) => {
    const at = (row: readonly number[] | undefined): number => row?.[column] ?? 0;
    const pivot = rows
      .map((row, index) => ({ index, size: Math.abs(at(row)) }))
      .slice(column)
      .reduce((best, each) => (each.size > best.size ? each : best)).index;
    const chosen = (rows[pivot] ?? []).map((value) => value / at(rows[pivot]));
    rows[pivot] = rows[column] ?? [];
    rows[column] = chosen;
    rows.forEach((row, index) => {
      if (index === column) return;
      const factor = at(row);
      rows[index] = row.map((value, place) => value - factor * (chosen[place] ?? 0));
    });
  });
  return rows.map((row) => row.at(-1) ?? 0);
}

/**
 * How long a startable job and an idle slot took to find each other: the median over a run with one slot, in seconds.
 * Waiting for the slot itself does not count.
 */
export function pickupSeconds(renders: readonly MeasuredRender[]): number {
  const jobs = renders
    .map(({ at_seconds, end_to_end_seconds, service_seconds, wait_seconds }) => {
      const ended = at_seconds + end_to_end_seconds;
      const claimed = ended - service_seconds;
      return { ended, claimed, available: claimed - wait_seconds };
    })
    .sort((a, b) => a.claimed - b.claimed);
  return quantile(
    jobs.map(({ claimed, available }, index) =>
      Math.max(0, claimed - Math.max(available, jobs[index - 1]?.ended ?? available)),
    ),
    0.5,
  );
}
