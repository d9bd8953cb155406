import { type LoadTestConfig } from '../config';
import { type LoadTarget } from '../target/load-target';
import { type LoggedEvent } from '../target/receiver';
import { type Histogram, histogramOf, rounded } from '../track/histogram';
import { type TrackedRender } from '../track/ledger';
import { type Recorder } from '../track/recorder';
import {
  type CheckResult,
  type RenderReport,
  type SeriesReport,
  type SliceReport,
  type WebhookReport,
} from './report';
import { type Backlog } from './verdict';

/** A finished run, times in milliseconds of the run's clock. */
export interface RunResult {
  readonly config: LoadTestConfig;
  readonly target: LoadTarget;
  readonly recorder: Recorder;
  readonly renders: readonly TrackedRender[];
  readonly checks: readonly CheckResult[];
  readonly startedAt: Date;
  readonly startAt: number;
  readonly sliceMs: number;
  /** The middle of the measured arrivals, as planned. */
  readonly halfAt: number;
  readonly arrivalsEndAt: number;
  /** How far the service's clock is ahead. */
  readonly clockOffsetMs: number;
  readonly inFlightPeak: number;
  readonly stoppedEarly: boolean;
}

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
    queue_to_start_ms: queueToStart.quantiles(),
    queue_to_start_distribution: queueToStart.distribution(),
    start_from: {
      record: completed.filter(({ started }) => started?.from === 'record').length,
      poll: completed.filter(({ started }) => started?.from === 'poll').length,
    },
    end_to_end_ms: endToEnd.quantiles(),
    end_to_end_distribution: endToEnd.distribution(),
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

/**
 * How quickly events arrived. `offsetMs` is how far the service's clock is ahead of the one that recorded the arrivals.
 */
export function webhookFigures(events: readonly LoggedEvent[], offsetMs: number): WebhookReport {
  const behaviors = [...new Set(events.map(({ behavior }) => behavior))];
  return {
    events: events.length,
    attempts: sum(events, ({ attempts }) => attempts),
    redeliveries: sum(events, ({ redeliveries }) => redeliveries),
    first_attempt_lag_ms: firstAttemptLags(events, offsetMs).quantiles(),
    by_receiver: Object.fromEntries(
      behaviors.map((behavior) => {
        const own = events.filter((event) => event.behavior === behavior);
        const lags = firstAttemptLags(own, offsetMs);
        return [
          behavior,
          {
            events: own.length,
            acknowledged: own.filter(({ acknowledged }) => acknowledged).length,
            first_attempt_lag_ms: lags.quantiles(),
            first_attempt_lag_distribution: lags.distribution(),
          },
        ];
      }),
    ),
  };
}

/** Milliseconds from each event to the arrival of its first attempt. */
export function firstAttemptLags(events: Iterable<LoggedEvent>, offsetMs: number): Histogram {
  return histogramOf([...events].map(({ createdAt, firstAt }) => firstAt + offsetMs - createdAt));
}

/** The run over time, up to the last slice with any activity. */
export function seriesOf(run: RunResult, rendered: readonly TrackedRender[]): SeriesReport {
  const { recorder, startAt, sliceMs, arrivalsEndAt, config, clockOffsetMs } = run;
  const ends = rendered.flatMap(({ end }) =>
    end?.status === 'completed' ? [endedAt(end.completedAt, clockOffsetMs)] : [],
  );
  const slices = recorder.slices.map(({ latency, notSent, ...counts }, index): SliceReport => {
    const from = startAt + index * sliceMs;
    const to = from + sliceMs;
    return {
      at_seconds: (index * sliceMs) / 1000,
      ...counts,
      not_sent: notSent,
      open_renders: rendered.filter((render) => isOpenAt(render, to, clockOffsetMs)).length,
      renders_completed: ends.filter((at) => at >= from && at < to).length,
      latency_ms: Object.fromEntries(
        [...latency].flatMap(([operation, histogram]) => {
          const quantiles = histogram.quantiles();
          if (quantiles === null) return [];
          const { count, p50, p99, max } = quantiles;
          return [[operation, { count, p50, p99, max }]];
        }),
      ),
    };
  });
  const last = slices.findLastIndex(
    ({ arrivals, requests, completed, open_renders, renders_completed }) =>
      arrivals + requests + completed + open_renders + renders_completed > 0,
  );
  return {
    slice_seconds: sliceMs / 1000,
    arrivals_end_seconds: rounded((arrivalsEndAt - startAt) / 1000),
    warm_up_seconds: config.warmUp,
    slices: slices.slice(0, last + 1),
  };
}

/** Whether a render was accepted and had not ended, by the harness's clock. */
export function isOpenAt({ acceptedAt, end }: TrackedRender, at: number, clockOffsetMs: number): boolean {
  return acceptedAt <= at && (end === null || endedAt(end.completedAt, clockOffsetMs) > at);
}

/** A service time on the run's clock; a render without one counts as ended at once. */
function endedAt(completedAt: number | null, clockOffsetMs: number): number {
  return completedAt === null ? 0 : completedAt - clockOffsetMs - performance.timeOrigin;
}
