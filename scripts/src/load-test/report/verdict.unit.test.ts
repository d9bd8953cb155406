import { type CheckResult } from '../verify/check';
import { type GeneratorFigures, type Quantiles, type StreamReport } from './report';
import { verdictOf, type VerdictInput } from './verdict';

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
const generator = (lag: Quantiles | null): GeneratorFigures => ({
  lag_ms: lag,
  cpu_cores: 0.3,
  machine_cpu_cores: 1,
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
const verdict = (over: Partial<VerdictInput> = {}) =>
  verdictOf({
    checks: [check('passed'), check('skipped')],
    generator: generator(quantiles()),
    streams: [stream()],
    renders: null,
    renderArrivalsInSecondHalf: 0,
    ...over,
  });

describe('verdictOf', () => {
  it('says that the load was carried when everybody was served in time', () => {
    expect(verdict()).toEqual({ outcome: 'carried', reasons: [] });
  });

  it('says nothing good of a run with a failed check', () => {
    expect(verdict({ checks: [check('failed')] })).toMatchObject({
      outcome: 'failed',
      reasons: ['Does not hold: Every accepted render ends.'],
    });
  });

  it.each([
    ['arrivals that could not be sent', { streams: [stream({ not_sent: 1 })] }],
    ['callers that were not served', { streams: [stream({ completed: 900 })] }],
    [
      'a backlog of renders that grows',
      { renders: { open_at_half: 5, open_at_end: 15 }, renderArrivalsInSecondHalf: 20 },
    ],
  ])('takes %s for a saturated service', (_, input) => {
    const { outcome, reasons } = verdict(input);
    expect(outcome).toBe('service_saturated');
    expect(reasons).toHaveLength(1);
  });

  it('does not take a backlog that stands still for saturation', () => {
    const renders = { open_at_half: 15, open_at_end: 16 };
    expect(verdict({ renders, renderArrivalsInSecondHalf: 20 }).outcome).toBe('carried');
  });

  it('says when there were too few renders to tell', () => {
    const renders = { open_at_half: 0, open_at_end: 3 };
    expect(verdict({ renders, renderArrivalsInSecondHalf: 3 })).toEqual({
      outcome: 'carried',
      reasons: ['Too few renders arrived to tell whether a backlog would grow.'],
    });
  });

  it('blames the harness, and not the service, when arrivals were sent late', () => {
    const input = { generator: generator(quantiles({ p99: 400 })), streams: [stream({ completed: 900 })] };
    expect(verdict(input).outcome).toBe('generator_saturated');
    expect(verdict({ generator: generator(quantiles({ count: 20, p99: null, max: 400 })) }).outcome).toBe(
      'generator_saturated',
    );
  });
});
