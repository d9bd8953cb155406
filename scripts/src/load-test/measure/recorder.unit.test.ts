import { type Outcome, transportOutcome } from './outcome';
import { createRecorder } from './recorder';

const SUCCESS: Outcome = { class: 'success', status: 200, code: null, retryable: null };
const LIMITED: Outcome = { class: 'limited', status: 429, code: 'rate_limit_exceeded', retryable: true };

function recorder() {
  return createRecorder({ startAt: 1_000, warmUpMs: 2_000, sliceMs: 1_000, slices: 10 });
}
const request = (intendedAt: number, over: { answeredAt?: number; outcome?: Outcome } = {}) => ({
  operation: 'get_render',
  intendedAt,
  sentAt: intendedAt + 30,
  answeredAt: intendedAt + 40,
  outcome: SUCCESS,
  ...over,
});

describe('createRecorder', () => {
  it('counts latency from when the caller wanted the answer, and tells the time on the wire apart', () => {
    const figures = recorder();
    figures.request(request(4_000));
    const operation = figures.operations.get('get_render');
    expect(operation?.latency.max).toBe(40);
    expect(operation?.response.max).toBe(10);
  });

  it('leaves the warm-up out of every figure but the time series', () => {
    const figures = recorder();
    figures.request(request(1_500));
    figures.sent('callers', 1_500, 0);
    figures.served('callers', 1_500, 1_600, true);
    expect(figures.operations.size).toBe(0);
    expect(figures.streams.size).toBe(0);
    expect(figures.slices[0]).toMatchObject({ requests: 1, arrivals: 1, completed: 1 });
  });

  it('counts refusals by a limit apart from failures, and neither as latency', () => {
    const figures = recorder();
    figures.request(request(4_000, { outcome: LIMITED }));
    figures.request(request(4_000, { outcome: transportOutcome('ECONNRESET') }));
    const operation = figures.operations.get('get_render');
    expect(operation).toMatchObject({ requests: 2, succeeded: 0, limited: 1, failed: 1 });
    expect(operation?.latency.count).toBe(0);
    expect(figures.slices[3]).toMatchObject({ limited: 1, failed: 1 });
  });

  it('counts a timeout with the time that was waited for it', () => {
    const figures = recorder();
    figures.request(request(4_000, { answeredAt: 34_000, outcome: transportOutcome('timeout') }));
    expect(figures.operations.get('get_render')?.latency.max).toBe(30_000);
  });

  it('puts equal errors together, the most frequent first', () => {
    const figures = recorder();
    figures.request(request(4_000, { outcome: transportOutcome('ECONNRESET') }));
    for (let i = 0; i < 3; i++) figures.request(request(4_000, { outcome: LIMITED }));
    expect(figures.errors().map(({ outcome, count }) => [outcome.code, count])).toEqual([
      ['rate_limit_exceeded', 3],
      ['ECONNRESET', 1],
    ]);
  });

  it('knows what was not sent, and puts what comes after the end into the last slice', () => {
    const figures = recorder();
    figures.notSent('callers', 4_000);
    figures.sent('callers', 99_000, 7);
    expect(figures.streams.get('callers')).toMatchObject({ arrivals: 2, notSent: 1 });
    expect(figures.streams.get('callers')?.lag.max).toBe(7);
    expect(figures.slices[9]?.arrivals).toBe(1);
  });
});
