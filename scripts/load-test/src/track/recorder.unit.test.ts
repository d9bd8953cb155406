import { LIMITED, SUCCESS } from '../test/observations';
import { type Outcome, transportOutcome } from './outcome';
import { createRecorder } from './recorder';

function recorder() {
  return createRecorder({
    startAt: 1_000,
    warmUpMs: 2_000,
    halfAt: 5_000,
    arrivalsEndAt: () => 7_000,
    sliceMs: 1_000,
    slices: 10,
  });
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
  it('measures latency from when the caller wanted the response, and the time on the wire separately', () => {
    const figures = recorder();
    figures.request(request(4_000));
    const operation = figures.operations.get('get_render');
    expect(operation?.latency.quantile(1)).toBeCloseTo(40, 0);
    expect(operation?.response.quantile(1)).toBeCloseTo(10, 0);
  });

  it('excludes the warm-up from every figure except the time series', () => {
    const figures = recorder();
    figures.request(request(1_500));
    figures.sent('callers', 1_500, 0);
    figures.served('callers', 1_500, 1_600, true);
    expect(figures.operations.get('get_render')?.requests).toBe(0);
    expect(figures.streams.get('callers')).toMatchObject({ arrivals: 0, completed: 0 });
    expect(figures.slices[0]).toMatchObject({ requests: 1, arrivals: 1, completed: 1 });
  });

  it('counts rate-limited requests separately from failures, and neither as latency', () => {
    const figures = recorder();
    figures.request(request(4_000, { outcome: LIMITED }));
    figures.request(request(4_000, { outcome: transportOutcome('ECONNRESET') }));
    const operation = figures.operations.get('get_render');
    expect(operation).toMatchObject({ requests: 2, succeeded: 0, limited: 1, failed: 1 });
    expect(operation?.latency.count).toBe(0);
    expect(figures.slices[3]).toMatchObject({ limited: 1, failed: 1 });
  });

  it('counts a timeout with the time that was waited', () => {
    const figures = recorder();
    figures.request(request(4_000, { answeredAt: 34_000, outcome: transportOutcome('timeout') }));
    expect(figures.operations.get('get_render')?.latency.quantile(1)).toBeCloseTo(30_000, -3);
  });

  it('counts the callers in progress at half time and at the end, including the warm-up’s, whatever their outcome', () => {
    const figures = recorder();
    const caller = (intendedAt: number, endedAt: number, succeeded = true): void => {
      figures.sent('callers', intendedAt, 0);
      figures.served('callers', intendedAt, endedAt, succeeded);
    };
    caller(2_000, 9_000, false);
    caller(4_000, 5_000);
    caller(5_000, 6_000);
    caller(6_000, 8_000);
    expect(figures.streams.get('callers')).toMatchObject({
      arrivals: 3,
      sentSinceHalf: 1,
      underWayAtHalf: 2,
      underWayAtEnd: 2,
    });
  });

  it('counts what was not sent, and assigns what comes after the end to the last slice', () => {
    const figures = recorder();
    figures.notSent('callers', 4_000);
    figures.sent('callers', 99_000, 7);
    expect(figures.streams.get('callers')).toMatchObject({ arrivals: 2, notSent: 1 });
    expect(figures.lag.quantile(1)).toBeCloseTo(7, 0);
    expect(figures.slices[9]?.arrivals).toBe(1);
  });
});
