import { type CheckResult, type GeneratorFigures, type Quantiles, type StreamReport } from './report';
import { type Backlog, type VerdictInput, verdictOf } from './verdict';

const quantiles = (over: Partial<Quantiles> = {}): Quantiles => ({
  count: 1_000,
  mean: 1,
  p50: 1,
  p90: 1,
  p99: 2,
  p999: 3,
  max: 5,
  ...over,
});
const generator = (lag: Quantiles): GeneratorFigures => ({
  lag_ms: lag,
  peak_rss_mib: 100,
  in_flight_peak: 5,
  stopped_early: false,
});
const stream = (over: Partial<StreamReport> = {}): StreamReport => ({
  name: 'control-plane',
  offered_per_second: 10,
  arrivals: 1_000,
  not_sent: 0,
  completed: 1_000,
  failed: 0,
  completed_per_second: 10,
  under_way_at_half: 0,
  under_way_at_end: 0,
  latency_ms: quantiles(),
  ...over,
});
const check = (state: CheckResult['state']): CheckResult => ({
  id: 'renders_end',
  title: 'Every accepted render ends',
  state,
  examined: 1,
  failures: 0,
  examples: [],
  note: null,
});
const backlog = (atHalf: number, atEnd: number, over: Partial<Backlog> = {}): Backlog => ({
  of: 'renders',
  atHalf,
  atEnd,
  arrivedBetween: 20,
  batch: 1,
  ...over,
});
const webhooks = (over: Partial<Quantiles>) => ({ first_attempt_lag_ms: quantiles(over) });
const verdict = (over: Partial<VerdictInput> = {}) =>
  verdictOf({
    checks: [check('passed'), check('skipped')],
    generator: generator(quantiles()),
    streams: [stream()],
    backlogs: [],
    webhooks: null,
    ...over,
  });

describe('verdictOf', () => {
  it('says that the load was carried when every caller was served in time', () => {
    expect(verdict()).toEqual({ outcome: 'carried', reasons: [] });
  });

  it('reports nothing good about a run with a failed check', () => {
    expect(verdict({ checks: [check('failed')] })).toMatchObject({
      outcome: 'failed',
      reasons: ['Does not hold: Every accepted render ends.'],
    });
  });

  it.each([
    ['arrivals that could not be sent', { streams: [stream({ not_sent: 1 })] }],
    ['callers that were not served', { streams: [stream({ completed: 900 })] }],
    ['a backlog that grows', { backlogs: [backlog(3, 3), backlog(5, 15)] }],
    ['webhooks of which one in a hundred is late', { webhooks: webhooks({ p99: 34_000 }) }],
    ['a late webhook of a few', { webhooks: webhooks({ count: 20, p99: null, max: 10_001 }) }],
  ])('treats %s as a saturated service', (_, input) => {
    const { outcome, reasons } = verdict(input);
    expect(outcome).toBe('service_saturated');
    expect(reasons).toHaveLength(1);
  });

  it('says that the load was carried when fewer than one webhook in a hundred was late', () => {
    const late = webhooks({ p99: 10_000, max: 34_000 });
    expect(verdict({ webhooks: late })).toEqual({ outcome: 'carried', reasons: [] });
  });

  it('does not treat a constant backlog as saturation', () => {
    expect(verdict({ backlogs: [backlog(15, 20)] })).toEqual({ outcome: 'carried', reasons: [] });
  });

  it.each([
    ['arrived', { arrivedBetween: 7 }],
    ['arrived apart from each other', { arrivedBetween: 159, batch: 20 }],
  ])('reports when too few %s to tell', (_, over) => {
    expect(verdict({ backlogs: [backlog(0, over.arrivedBetween, over)] })).toEqual({
      outcome: 'carried',
      reasons: ['Too few renders arrived in the second half to tell whether a backlog would grow.'],
    });
  });

  it('blames the harness, not the service, when arrivals were sent late', () => {
    const input = { generator: generator(quantiles({ p99: 400 })), streams: [stream({ completed: 900 })] };
    expect(verdict(input).outcome).toBe('generator_saturated');
    expect(verdict({ generator: generator(quantiles({ count: 20, p99: null, max: 400 })) }).outcome).toBe(
      'generator_saturated',
    );
  });
});
