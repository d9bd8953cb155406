import { CONFIG_DEFAULTS, type StreamConfig } from '../config';
import { createEventLog, type EventLog } from '../target/receiver';
import { AT, endedRender, recordOf } from '../test/observations';
import { type TrackedRender } from '../track/ledger';
import { type Outcome } from '../track/outcome';
import { createRecorder } from '../track/recorder';
import { buildReport } from './build-report';
import { type RunResult } from './figures';

const SUCCESS: Outcome = { class: 'success', status: 200, code: null, retryable: null };
const SECONDS = 30;

const stream = (ratePerSecond: number, burstSize = 1): StreamConfig => ({
  name: 'control-plane',
  plan: { kind: 'poisson', ratePerSecond, burstSize, durationSeconds: SECONDS },
  mix: { get: 1 },
  announces: false,
});

/** A run of callers who arrive evenly, `burst` at a time, and are served one after another at the service's pace. */
function runOf(given: {
  offered: number;
  carried: number;
  burst?: number;
  warmUpSeconds?: number;
  stoppedAfter?: number;
}): RunResult {
  const { offered, carried, burst = 1, warmUpSeconds = 0, stoppedAfter = SECONDS } = given;
  const arrivalsEndAt = (warmUpSeconds + stoppedAfter) * 1_000;
  const halfAt = (warmUpSeconds + SECONDS / 2) * 1_000;
  const recorder = createRecorder({
    startAt: 0,
    warmUpMs: warmUpSeconds * 1_000,
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
    recorder.request({
      operation: 'get_render',
      intendedAt,
      sentAt: intendedAt,
      answeredAt: idleAt,
      outcome: SUCCESS,
    });
    recorder.served('control-plane', intendedAt, idleAt, true);
  }
  return {
    config: {
      ...CONFIG_DEFAULTS,
      scenario: 'control-plane',
      streams: [stream(offered, burst)],
      durationSeconds: SECONDS,
      warmUpSeconds,
      videoFile: 'face.mp4',
      audioFile: 'speech.wav',
    },
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
  };
}

const render = (id: string, isWarmUp: boolean): TrackedRender =>
  endedRender(
    { status: 'failed', completedAt: 1_000, errorCode: 'engine_failed', webhookEventId: `of ${id}` },
    { id, isWarmUp, announcedTo: 'fast' },
  );

function arrives(log: EventLog, id: string, lagMs: number): void {
  const data = {
    ...recordOf(id),
    status: 'failed' as const,
    stage: 'failed' as const,
    progress_percent: 100,
  };
  const event = { id: `of ${id}`, type: 'render.failed' as const, created_at: AT, data };
  log.arrived(event, 'fast', Date.parse(AT) + lagMs);
}

const announcedTo = ({ target }: RunResult, log: EventLog) => ({
  ...target,
  webhooks: { log, url: () => '', verifiesSignatures: true },
});

describe('the report of a run', () => {
  it('states the load that a slow service carried, not the load offered to it', () => {
    const { verdict, streams, operations, summary } = buildReport(runOf({ offered: 100, carried: 50 }));
    expect(streams).toMatchObject([
      { offered_per_second: 100, completed: 3_000, completed_per_second: 50, under_way_at_end: 1_500 },
    ]);
    expect(operations).toMatchObject([{ requests: 3_000, per_second: 50 }]);
    expect(verdict).toEqual({
      outcome: 'service_saturated',
      reasons: [
        'The backlog grew by 749 callers of control-plane while 1499 arrived: more came than were served.',
      ],
    });
    expect(summary).toContain('did not keep up with 100/s callers of control-plane (50/s served)');
  });

  it('states that a service carried what it can keep up with', () => {
    const { verdict, streams } = buildReport(runOf({ offered: 100, carried: 125 }));
    expect(verdict).toEqual({ outcome: 'carried', reasons: [] });
    expect(streams).toMatchObject([{ completed_per_second: 100, under_way_at_end: 0 }]);
  });

  it('does not mistake the backlog left by the warm-up for idleness', () => {
    const { streams, operations } = buildReport(runOf({ offered: 100, carried: 50, warmUpSeconds: 10 }));
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
    expect(verdict).toEqual({
      outcome: 'carried',
      reasons: [
        'Too few callers of control-plane arrived in the second half to tell whether a backlog would grow.',
      ],
    });
  });

  it('excludes renders and events of the warm-up from every figure', () => {
    const log = createEventLog();
    const run = runOf({ offered: 10, carried: 100 });
    const renders = [render('in the warm-up', true), render('measured', false)];
    for (const { id } of renders) arrives(log, id, 0);
    arrives(log, 'of nobody', 0);
    const report = buildReport({ ...run, renders, target: announcedTo(run, log) });
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
    const log = createEventLog();
    const run = runOf({ offered: 100, carried: 125 });
    arrives(log, 'late', 34_000);
    const report = buildReport({ ...run, renders: [render('late', false)], target: announcedTo(run, log) });
    expect(report.verdict).toMatchObject({
      outcome: 'service_saturated',
      reasons: ['Webhooks reached their receivers after max 34 s; 99 % of them should within 10 s.'],
    });
  });
});
