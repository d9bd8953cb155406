import { type LoggedEvent } from '../target/receiver';
import { endedRender, loggedEvent } from '../test/observations';
import { histogramOf, quantilesOf, worstOf } from '../track/histogram';
import { type TrackedRender } from '../track/ledger';
import { createRecorder } from '../track/recorder';
import { renderFigures, seriesOf, webhookFigures } from './figures';

const completed = (
  over: { createdAt: number; startedAt: number; completedAt: number } & Partial<TrackedRender>,
) => {
  const { startedAt, completedAt, ...rest } = over;
  return endedRender(
    { completedAt, outputSeconds: 4, processingMs: completedAt - startedAt },
    { id: String(over.createdAt), acceptedAfterMs: 100, started: { at: startedAt, from: 'record' }, ...rest },
  );
};
const NONE_OPEN = { atHalf: 0, atEnd: 0 };
/** Quantiles are within half a percent. */
const about = (value: number) => expect.closeTo(value, -2) as number;

describe('renderFigures', () => {
  it('measures the queue from creation to start, and the total from the arrival of the caller', () => {
    const renders = [
      completed({ createdAt: 0, startedAt: 1_000, completedAt: 3_000 }),
      completed({ createdAt: 1_000, startedAt: 3_000, completedAt: 7_200 }),
    ];
    expect(renderFigures(renders, NONE_OPEN)).toMatchObject({
      accepted: 2,
      ended: { completed: 2 },
      queue_to_start_ms: { count: 2, p50: about(1_000), max: 2_000 },
      end_to_end_ms: { p50: about(3_100), max: 6_300 },
      completed_per_hour: 1_000,
      output_seconds: 8,
      work_per_output_second: 0.775,
      start_from: { record: 2, poll: 0 },
    });
  });

  it('counts what did not complete by how it ended and why', () => {
    const open = completed({ createdAt: 0, startedAt: 1, completedAt: 2, end: null, started: null });
    const failed = completed({ createdAt: 0, startedAt: 1, completedAt: 2 });
    if (failed.end !== null) failed.end = { ...failed.end, status: 'failed', errorCode: 'engine_failed' };
    expect(renderFigures([open, failed], NONE_OPEN)).toMatchObject({
      ended: { open: 1, failed: 1 },
      error_codes: { engine_failed: 1 },
      end_to_end_ms: null,
    });
  });

  it('has no figures without renders', () => {
    expect(renderFigures([], NONE_OPEN)).toBeNull();
  });
});

describe('webhookFigures', () => {
  const event = (over: Partial<LoggedEvent>): LoggedEvent =>
    loggedEvent({ createdAt: 10_000, firstAt: 10_050, ...over });

  it('corrects the lag for the clocks’ offset, and separates the receivers', () => {
    const events = [
      event({}),
      event({ behavior: 'hanging', firstAt: 10_150, attempts: 2, acknowledged: false }),
    ];
    expect(webhookFigures(events, 50)).toMatchObject({
      events: 2,
      attempts: 3,
      first_attempt_lag_ms: { count: 2, max: 200 },
      by_receiver: {
        fast: { events: 1, acknowledged: 1, first_attempt_lag_ms: { max: 100 } },
        hanging: { events: 1, acknowledged: 0, first_attempt_lag_ms: { max: 200 } },
      },
    });
  });
});

describe('quantilesOf', () => {
  it('reports no percentile that too few values lie beyond', () => {
    const of = (count: number) => quantilesOf(histogramOf(Array.from({ length: count }, () => 1)));
    expect(of(9)).toMatchObject({ p90: null, p99: null, p999: null });
    expect(of(99)).toMatchObject({ p90: 1, p99: null, p999: null });
    expect(of(999)).toMatchObject({ p90: 1, p99: 1, p999: null });
    expect(of(1_000)).toMatchObject({ p999: 1 });
    expect(of(0)).toBeNull();
  });

  it('falls back to the maximum when there is no 99th percentile', () => {
    const few = quantilesOf(histogramOf([1, 2, 3]));
    expect(few && worstOf(few)).toEqual({ name: 'max', ms: 3 });
  });
});

const SECONDS = 2;

const newRecorder = () =>
  createRecorder({
    startAt: 0,
    warmUpMs: 0,
    sliceMs: 1_000,
    slices: SECONDS,
    halfAt: SECONDS * 500,
    arrivalsEndAt: () => SECONDS * 1_000,
  });
const RUN = {
  recorder: newRecorder(),
  config: { warmUpSeconds: 0 },
  startAt: 0,
  sliceMs: 1_000,
  arrivalsEndAt: SECONDS * 1_000,
  clockOffsetMs: 0,
};
const endedAs = (status: 'completed' | 'failed'): TrackedRender =>
  endedRender({ status, completedAt: performance.timeOrigin + 1_500 }, { id: status });

describe('seriesOf', () => {
  it('reports no percentile of a slice with too few requests beyond it, but its maximum', () => {
    const recorder = newRecorder();
    const request = (intendedAt: number, latencyMs: number): void =>
      recorder.request({
        operation: 'get_render',
        intendedAt,
        sentAt: intendedAt,
        answeredAt: intendedAt + latencyMs,
        outcome: { class: 'success', status: 200, code: null, retryable: null },
      });
    for (let i = 0; i < 99; i++) request(0, i === 0 ? 700 : 10);
    for (let i = 0; i < 100; i++) request(1_000, i < 2 ? 700 : 10);
    const { slices } = seriesOf({ ...RUN, recorder }, []);
    expect(slices.map(({ latency_ms }) => latency_ms['get_render'])).toMatchObject([
      { count: 99, p99: null, max: 700 },
      { count: 100, p99: expect.closeTo(700, -1) as number, max: 700 },
    ]);
  });

  it('counts a failed render as no longer open, but not as completed', () => {
    const { slices } = seriesOf(RUN, [endedAs('completed'), endedAs('failed')]);
    expect(slices).toMatchObject([
      { open_renders: 2, renders_completed: 0 },
      { open_renders: 0, renders_completed: 1 },
    ]);
  });
});
