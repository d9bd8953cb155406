import fc from 'fast-check';
import {
  nextAttemptAt,
  retryDelaySeconds,
  WEBHOOK_RETRY_DELAYS_SECONDS,
  WEBHOOK_TIMEOUT_SECONDS,
  WEBHOOK_WINDOW_SECONDS,
} from './retry-schedules';

describe('the delay before a failed job is retried', () => {
  it('grows from 5 seconds to 5 minutes, with ±10 % jitter', () => {
    expect([1, 2, 3, 4, 5, 50].map((attempt) => retryDelaySeconds(attempt, 0.5))).toEqual([
      5, 20, 80, 300, 300, 300,
    ]);
    expect([retryDelaySeconds(1, 0), retryDelaySeconds(1, 1)]).toEqual([4.5, 5.5]);
  });
});

const createdAt = new Date('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(createdAt.getTime() + seconds * 1000);
const MIDDLE = 0.5;
const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const secondFailure = { attempts: 2, createdAt, now: after(10), delaysSeconds };

describe('the schedule of a delivery', () => {
  it('makes one attempt and ten retries, 10 s, 1, 5, 15, 30 min, 1, 2, 4, 6 and 7 h after each failure', () => {
    const elapsed: number[] = [];
    let now: Date | null = createdAt;
    for (let attempts = 1; now; attempts += 1) {
      elapsed.push((now.getTime() - createdAt.getTime()) / 1000);
      now = nextAttemptAt({ attempts, createdAt, now, jitter: MIDDLE, delaysSeconds });
    }
    expect(elapsed).toEqual([0, 10, 70, 370, 1270, 3070, 6670, 13_870, 28_270, 49_870, 75_070]);
  });

  it('fits into 24 hours even if every attempt times out and every delay has the maximum jitter', () => {
    const worst = WEBHOOK_RETRY_DELAYS_SECONDS.reduce(
      (sum, delay) => sum + delay * 1.1 + WEBHOOK_TIMEOUT_SECONDS,
      0,
    );
    expect(worst + WEBHOOK_TIMEOUT_SECONDS).toBeLessThan(WEBHOOK_WINDOW_SECONDS);
  });

  it('gives every delay ±10 % jitter', () => {
    const at = (jitter: number) => nextAttemptAt({ ...secondFailure, jitter })?.getTime();
    expect([at(0), at(1)]).toEqual([after(10 + 54).getTime(), after(10 + 66).getTime()]);
  });

  it('waits longer if the receiver asks for it, and never shorter', () => {
    const at = (retryAfterSeconds: number) =>
      nextAttemptAt({ ...secondFailure, jitter: MIDDLE, retryAfterSeconds });
    expect(at(600)).toEqual(after(610));
    expect(at(1)).toEqual(after(70));
  });

  it('never exceeds 24 hours after the creation, whatever the receiver asks for', () => {
    const failed = { createdAt, jitter: MIDDLE, delaysSeconds };
    expect(nextAttemptAt({ ...failed, attempts: 1, now: after(5), retryAfterSeconds: 1e9 })).toEqual(
      after(86_400),
    );
    expect(nextAttemptAt({ ...failed, attempts: 3, now: after(86_400) })).toBeNull();
    const at = fc.record({
      attempts: fc.integer({ min: 1, max: 12 }),
      elapsed: fc.nat(90_000),
      jitter: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      retryAfterSeconds: fc.nat(),
    });
    fc.assert(
      fc.property(at, ({ elapsed, ...rest }) => {
        const next = nextAttemptAt({ ...rest, createdAt, now: after(elapsed), delaysSeconds });
        expect(next === null || (next > after(elapsed) && next <= after(86_400))).toBe(true);
      }),
    );
  });

  it('uses a different list of delays when given one', () => {
    const failed = { createdAt, now: createdAt, jitter: MIDDLE, delaysSeconds: [1, 2] };
    expect(nextAttemptAt({ ...failed, attempts: 2 })).toEqual(after(2));
    expect(nextAttemptAt({ ...failed, attempts: 3 })).toBeNull();
  });
});
