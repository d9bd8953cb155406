import { type TrackedRender } from '../renders/tracked-render';
import { quantilesOf, rounded } from './quantiles';
import { type SeriesReport, type SliceReport } from './report';
import { endedAt, isOpenAt, type RunResult } from './run-result';

type TimedRun = Pick<RunResult, 'recorder' | 'startAt' | 'sliceMs' | 'arrivalsEndAt' | 'clockOffsetMs'> & {
  readonly config: Pick<RunResult['config'], 'warmUpSeconds'>;
};

/** The run over time, up to the last slice with any activity. */
export function seriesOf(run: TimedRun, rendered: readonly TrackedRender[]): SeriesReport {
  const { recorder, startAt, sliceMs, arrivalsEndAt, config } = run;
  const ends = rendered.flatMap(({ end }) =>
    end?.status === 'completed' ? [endedAt(run, end.completedAt)] : [],
  );
  const slices = recorder.slices.map((slice, index): SliceReport => {
    const from = startAt + index * sliceMs;
    const to = from + sliceMs;
    return {
      at_seconds: (index * sliceMs) / 1000,
      arrivals: slice.arrivals,
      not_sent: slice.notSent,
      completed: slice.completed,
      requests: slice.requests,
      failed: slice.failed,
      limited: slice.limited,
      open_renders: rendered.filter((render) => isOpenAt(run, render, to)).length,
      renders_completed: ends.filter((at) => at >= from && at < to).length,
      latency_ms: Object.fromEntries(
        [...slice.latency].flatMap(([operation, latency]) => {
          const quantiles = quantilesOf(latency);
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
    warm_up_seconds: config.warmUpSeconds,
    slices: slices.slice(0, last + 1),
  };
}
