import { type TrackedRender } from '../renders/tracked-render';
import { type Backlog } from './backlog';
import { distributionOf, histogramOf, quantilesOf, rounded } from './quantiles';
import { type RenderReport } from './report';

/** Figures of these renders, and the number of open ones, including those of the warm-up. */
export function renderFigures(
  renders: readonly TrackedRender[],
  open: Pick<Backlog, 'atHalf' | 'atEnd'>,
): RenderReport | null {
  if (renders.length === 0) return null;
  const completed = renders.filter(({ end }) => end?.status === 'completed');
  const outputSeconds = sum(completed, ({ end }) => end?.outputSeconds ?? 0);
  const processingSeconds = sum(completed, ({ end }) => (end?.processingMs ?? 0) / 1000);
  const queueToStart = histogramOf(
    completed.flatMap(({ started, createdAt }) => (started === null ? [] : [started.at - createdAt])),
  );
  const endToEnd = histogramOf(
    completed.flatMap(({ end, createdAt, acceptedAfterMs }) =>
      end?.completedAt == null ? [] : [acceptedAfterMs + end.completedAt - createdAt],
    ),
  );
  return {
    accepted: renders.length,
    ended: countBy(renders, ({ end }) => end?.status ?? 'open'),
    error_codes: countBy(
      renders.filter(({ end }) => end?.errorCode != null),
      ({ end }) => end?.errorCode ?? '',
    ),
    completed_per_hour: perHour(completed),
    output_seconds: rounded(outputSeconds),
    work_per_output_second: outputSeconds === 0 ? null : rounded(processingSeconds / outputSeconds),
    queue_to_start_ms: quantilesOf(queueToStart),
    queue_to_start_distribution: distributionOf(queueToStart),
    start_from: {
      record: completed.filter(({ started }) => started?.from === 'record').length,
      poll: completed.filter(({ started }) => started?.from === 'poll').length,
    },
    end_to_end_ms: quantilesOf(endToEnd),
    end_to_end_distribution: distributionOf(endToEnd),
    open_at_half: open.atHalf,
    open_at_end: open.atEnd,
  };
}

function perHour(completed: readonly TrackedRender[]): number | null {
  const first = Math.min(...completed.map(({ createdAt }) => createdAt));
  const last = Math.max(...completed.map(({ end }) => end?.completedAt ?? 0));
  return completed.length === 0 || last <= first
    ? null
    : rounded((completed.length * 3_600_000) / (last - first));
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function countBy<Item>(items: readonly Item[], of: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[of(item)] = (counts[of(item)] ?? 0) + 1;
  return counts;
}
