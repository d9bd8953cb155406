import { retryDelaySeconds } from './backoff';

describe('the delay before a failed job is retried', () => {
  it('grows from 5 seconds to 5 minutes, with ±10 % jitter', () => {
    expect([1, 2, 3, 4, 5, 50].map((attempt) => retryDelaySeconds(attempt, 0.5))).toEqual([
      5, 20, 80, 300, 300, 300,
    ]);
    expect([retryDelaySeconds(1, 0), retryDelaySeconds(1, 1)]).toEqual([4.5, 5.5]);
  });
});
