import { arrivalsEnd, type Clock } from '../callers/open-loop';

function setUp() {
  const time = { now: 0 };
  const clock: Clock = { now: () => time.now, until: async () => undefined };
  const stop = new AbortController();
  return { time, clock, stop };
}

describe('arrivalsEnd', () => {
  it('is when they were stopped, however long those in progress take', () => {
    const { time, clock, stop } = setUp();
    const endAt = arrivalsEnd(clock, 10_000, stop.signal);
    expect(endAt()).toBe(10_000);
    time.now = 4_000;
    stop.abort();
    time.now = 30_000;
    expect(endAt()).toBe(4_000);
  });

  it('is as planned when only the wait for the last ones is stopped', () => {
    const { time, clock, stop } = setUp();
    const endAt = arrivalsEnd(clock, 10_000, stop.signal);
    time.now = 12_000;
    stop.abort();
    expect(endAt()).toBe(10_000);
  });

  it('is at once when they were stopped before they began', () => {
    const { time, clock, stop } = setUp();
    time.now = 1_000;
    stop.abort();
    expect(arrivalsEnd(clock, 10_000, stop.signal)()).toBe(1_000);
  });
});
