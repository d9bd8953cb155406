import { type StreamConfig } from '../config';
import { defaultConfig } from '../options';
import { createEventLog } from '../target/receiver';
import { AT, endedRender, loggedEvent, SUCCESS } from '../test/observations';
import { type TrackedRender } from '../track/ledger';
import { createRecorder } from '../track/recorder';
import { buildReport } from './build-report';
import { type RunResult } from './figures';
import { renderHtml } from './page';
import { type CheckResult } from './report';

const SECONDS = 30;

const stream = (ratePerSecond: number, burstSize: number): StreamConfig => ({
  name: 'control-plane',
  plan: { kind: 'poisson', ratePerSecond, burstSize, durationSeconds: SECONDS },
  mix: { get: 1 },
  announces: false,
});

interface Model {
  readonly offered: number;
  readonly carried: number;
  readonly burst?: number;
  readonly warmUp?: number;
  readonly stoppedAfter?: number;
}

/** A run of callers who arrive evenly, `burst` at a time, and are served one after another at the service's pace. */
function runOf(given: Model, over: Partial<RunResult> = {}): RunResult {
  const { offered, carried, burst = 1, warmUp = 0, stoppedAfter = SECONDS } = given;
  const arrivalsEndAt = (warmUp + stoppedAfter) * 1_000;
  const halfAt = (warmUp + SECONDS / 2) * 1_000;
  const recorder = createRecorder({
    startAt: 0,
    warmUpMs: warmUp * 1_000,
    sliceMs: 1_000,
    slices: 120,
    halfAt,
    arrivalsEndAt: () => arrivalsEndAt,
  });
  const arrivesAt = (caller: number): number => (Math.floor(caller / burst) * burst * 1_000) / offered;
  let idleAt = 0;
  for (let caller = 0; arrivesAt(caller) < arrivalsEndAt; caller++) {
    const intendedAt = arrivesAt(caller);
    idleAt = Math.max(idleAt, intendedAt) + 1_000 / carried;
    recorder.sent('control-plane', intendedAt, 0);
    const times = { intendedAt, sentAt: intendedAt, answeredAt: idleAt };
    recorder.request({ operation: 'get_render', ...times, outcome: SUCCESS });
    recorder.served('control-plane', intendedAt, idleAt, true);
  }
  return {
    config: { ...defaultConfig(), streams: [stream(offered, burst)], duration: SECONDS, warmUp },
    target: {
      baseUrl: 'https://api.example.test',
      description: 'a model',
      customers: [],
      webhooks: null,
      isLocal: false,
      close: async () => undefined,
    },
    recorder,
    renders: [],
    checks: [],
    startedAt: new Date(AT),
    startAt: 0,
    sliceMs: 1_000,
    halfAt,
    arrivalsEndAt,
    clockOffsetMs: 0,
    inFlightPeak: 0,
    stoppedEarly: false,
    ...over,
  };
}

/** With a receiver at which an event of each render has arrived after `lagMs`. */
function announced(run: RunResult, lagMs: number): RunResult {
  const events = run.renders.map(({ id }) =>
    loggedEvent({ id: `of ${id}`, recordId: id, createdAt: 0, firstAt: lagMs }),
  );
  const log = { ...createEventLog(), events: new Map(events.map((event) => [event.id, event])) };
  return { ...run, target: { ...run.target, webhooks: { log, url: () => '', verifiesSignatures: true } } };
}

const failedRender = (id: string, over: Partial<TrackedRender> = {}): TrackedRender =>
  endedRender({ status: 'failed', completedAt: 1_000, errorCode: 'engine_failed' }, { id, ...over });

describe('the report of a run', () => {
  it('states the load that a slow service carried, not the load offered to it', () => {
    const { verdict, streams, operations, summary } = buildReport(runOf({ offered: 100, carried: 50 }));
    expect(streams).toMatchObject([
      { offered_per_second: 100, completed: 3_000, completed_per_second: 50, under_way_at_end: 1_500 },
    ]);
    expect(operations).toMatchObject([{ requests: 3_000, per_second: 50 }]);
    expect(verdict).toMatchObject({ outcome: 'service_saturated', reasons: [expect.any(String)] });
    expect(summary).toContain('did not keep up with 100/s callers of control-plane (50/s served)');
  });

  it('states that a service carried what it can keep up with', () => {
    const { verdict, streams } = buildReport(runOf({ offered: 100, carried: 125 }));
    expect(verdict).toEqual({ outcome: 'carried', reasons: [] });
    expect(streams).toMatchObject([{ completed_per_second: 100, under_way_at_end: 0 }]);
  });

  it('does not mistake the backlog left by the warm-up for idleness', () => {
    const { streams, operations } = buildReport(runOf({ offered: 100, carried: 50, warmUp: 10 }));
    expect(streams).toMatchObject([{ arrivals: 3_000, completed: 3_000, completed_per_second: 50.03 }]);
    expect(operations).toMatchObject([{ requests: 3_000, per_second: 50.03 }]);
  });

  it('computes the rate over the time in which callers arrived, if that was cut short', () => {
    const { verdict, streams } = buildReport(runOf({ offered: 100, carried: 50, stoppedAfter: 20 }));
    expect(verdict.outcome).toBe('service_saturated');
    expect(streams).toMatchObject([{ completed: 2_000, completed_per_second: 50 }]);
  });

  it('does not mistake callers who arrived together just before the end for a backlog', () => {
    const { verdict } = buildReport(runOf({ offered: 100, carried: 500, burst: 980 }));
    expect(verdict).toMatchObject({ outcome: 'carried', reasons: [expect.stringContaining('Too few')] });
  });

  it('excludes renders and events of the warm-up from every figure', () => {
    const renders = [failedRender('warm-up', { isWarmUp: true }), failedRender('measured')];
    const report = buildReport(announced(runOf({ offered: 10, carried: 100 }, { renders }), 0));
    expect(report.renders).toMatchObject({
      accepted: 1,
      ended: { failed: 1 },
      error_codes: { engine_failed: 1 },
    });
    expect(report.webhooks).toMatchObject({
      events: 1,
      attempts: 1,
      by_receiver: { fast: { events: 1, first_attempt_lag_ms: { count: 1 } } },
    });
  });

  it('does not state that a load was carried whose webhooks took half a minute', () => {
    const run = runOf({ offered: 100, carried: 125 }, { renders: [failedRender('late')] });
    expect(buildReport(announced(run, 34_000)).verdict).toMatchObject({
      outcome: 'service_saturated',
      reasons: [expect.stringContaining('Webhooks')],
    });
  });

  it('takes the offset of the clocks from the times of the service', () => {
    const completedAt = performance.timeOrigin + 11_500;
    const renders = [endedRender({ completedAt }), endedRender({ completedAt, status: 'failed' })];
    const run = runOf({ offered: 1, carried: 10 }, { renders, clockOffsetMs: 10_000 });
    const { webhooks, series } = buildReport(announced(run, 50));
    expect(webhooks?.first_attempt_lag_ms?.max).toBeCloseTo(10_050, -2);
    // A failed render is no longer open, but not completed.
    expect(series.slices.slice(0, 2)).toMatchObject([
      { open_renders: 2, renders_completed: 0 },
      { open_renders: 0, renders_completed: 1 },
    ]);
  });
});

describe('the page of a report', () => {
  const failedCheck: CheckResult = {
    id: 'renders_end',
    title: 'Every accepted render ends',
    state: 'failed',
    examined: 10,
    failures: 1,
    examples: ['<script>alert(1)</script> & "more"'],
    note: null,
  };
  function fullRun(): RunResult {
    const renders = [failedRender('one'), endedRender({ outputSeconds: 4, processingMs: 9 }, { id: 'two' })];
    const run = runOf({ offered: 100, carried: 50, warmUp: 5 }, { renders, checks: [failedCheck] });
    run.recorder.request({
      operation: 'create_render',
      intendedAt: 9_000,
      sentAt: 9_000,
      answeredAt: 9_100,
      outcome: { class: 'unavailable', status: 503, code: 'service_unavailable', retryable: true },
    });
    return announced(run, 20);
  }
  const page = renderHtml(buildReport(fullRun()));

  it('shows throughput, latency, errors, webhooks and checks', () => {
    for (const told of ['100/s', 'get_render', 'service_unavailable', 'engine_failed', 'fast receivers'])
      expect(page).toContain(told);
    // Arrivals, backlog, renders, webhooks, latency, and one operation over time.
    expect(page.match(/<svg /g)).toHaveLength(6);
  });

  it('is self-contained: no script, no style sheet, no picture, nothing from the network', () => {
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|src=/);
    // The only other URL is the target's name, in text.
    expect(page.replaceAll('https://api.example.test', '')).not.toMatch(/https?:/);
  });

  it('escapes text from the service or the user', () => {
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;');
  });

  it.each([
    ['everything', fullRun()],
    ['nothing', runOf({ offered: 1, carried: 1, stoppedAfter: 0 })],
  ])('draws only numbers of a run with %s', (_, run) => {
    expect(renderHtml(buildReport(run))).not.toMatch(/NaN|Infinity|undefined|null/);
  });
});
