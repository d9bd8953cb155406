import { createRandom } from '@lipsync/local-stack';
import { createVirtualClock } from '../test/virtual-clock';
import { Histogram } from '../track/histogram';
import {
  type ArrivalPlan,
  arrivalSchedule,
  type Clock,
  createInFlight,
  offeredRate,
  type OpenLoopOptions,
  runOpenLoop,
} from './open-loop';

const poisson = (over: Partial<Extract<ArrivalPlan, { kind: 'poisson' }>> = {}): ArrivalPlan => ({
  kind: 'poisson',
  ratePerSecond: 50,
  burstSize: 1,
  durationSeconds: 200,
  ...over,
});
const times = (plan: ArrivalPlan, seed = 1, name = 'callers'): number[] => [
  ...arrivalSchedule(plan, createRandom(seed, name)),
];
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe('arrivalSchedule', () => {
  it('has the gaps of independent callers: exponential, with a standard deviation equal to the mean', () => {
    const arrivals = times(poisson());
    const gaps = arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? 0));
    const average = mean(gaps);
    const deviation = Math.sqrt(mean(gaps.map((gap) => (gap - average) ** 2)));
    expect(average).toBeCloseTo(20, 0);
    expect(deviation / average).toBeCloseTo(1, 1);
    expect(gaps.filter((gap) => gap > average).length / gaps.length).toBeCloseTo(Math.exp(-1), 1);
  });

  it('is the same for the same seed, and different for another seed or stream', () => {
    expect(times(poisson(), 7)).toEqual(times(poisson(), 7));
    expect(times(poisson(), 7)[0]).not.toBe(times(poisson(), 8)[0]);
    expect(times(poisson(), 7, 'a')[0]).not.toBe(times(poisson(), 7, 'b')[0]);
  });

  it('lets bursts arrive together, at the same overall rate', () => {
    const arrivals = times(poisson({ burstSize: 10, durationSeconds: 2000 }));
    expect(arrivals.length % 10).toBe(0);
    for (let i = 0; i < arrivals.length; i += 10) expect(new Set(arrivals.slice(i, i + 10)).size).toBe(1);
    expect(arrivals.length / 2000).toBeCloseTo(50, -1);
  });

  it('puts a backlog at the beginning', () => {
    expect(times({ kind: 'at-once', count: 4 })).toEqual([0, 0, 0, 0]);
    expect(offeredRate({ kind: 'at-once', count: 4 }, 2)).toBe(2);
    expect(offeredRate(poisson(), 2)).toBe(50);
  });
});

const every = (gapMs: number, count: number): number[] => Array.from({ length: count }, (_, i) => i * gapMs);

describe('runOpenLoop', () => {
  const clock = createVirtualClock();
  const options = (over: Partial<OpenLoopOptions>): OpenLoopOptions => ({
    clock,
    startAt: clock.now(),
    schedule: [],
    inFlight: createInFlight(1_000),
    signal: new AbortController().signal,
    serve: async () => undefined,
    onSent: () => undefined,
    onNotSent: () => undefined,
    ...over,
  });

  it('sends when an arrival is due, without waiting for responses', async () => {
    const startAt = clock.now();
    const sent: number[] = [];
    await clock.run(
      runOpenLoop(
        options({
          schedule: every(10, 5),
          onSent: (intendedAt) => sent.push(intendedAt - startAt),
          serve: () => clock.until(startAt + 1_000),
        }),
      ),
    );
    expect(sent).toEqual([0, 10, 20, 30, 40]);
    expect(clock.now() - startAt).toBe(1_000);
  });

  it('counts a stall of the service against everyone who arrives during it', async () => {
    const startAt = clock.now();
    // One request at a time, 1 ms each; the server stalls from 100 ms to 600 ms.
    const server = createServer(clock, { fromMs: startAt + 100, untilMs: startAt + 600 });
    const latency = new Histogram();
    const serviceTime = new Histogram();
    await clock.run(
      runOpenLoop(
        options({
          schedule: every(10, 100),
          serve: async (intendedAt) => {
            const begunAt = await server.request();
            latency.record(clock.now() - intendedAt);
            serviceTime.record(clock.now() - begunAt);
          },
        }),
      ),
    );
    expect(latency.count).toBe(100);
    // Half of the thousand milliseconds were stalled: half of the callers waited, up to the whole stall.
    expect(latency.quantile(1)).toBeGreaterThanOrEqual(490);
    expect(latency.quantile(0.75)).toBeGreaterThan(200);
    // What a closed loop would have seen: one slow request among a hundred fast ones.
    expect(serviceTime.quantile(0.98)).toBeLessThan(2);
  });

  it('limits the requests in flight of all loops together, and reports what it could not send', async () => {
    const startAt = clock.now();
    const sent: number[] = [];
    const notSent: number[] = [];
    const inFlight = createInFlight(2);
    const loop = (schedule: readonly number[]) =>
      runOpenLoop(
        options({
          schedule,
          inFlight,
          onSent: (intendedAt) => sent.push(intendedAt - startAt),
          onNotSent: (intendedAt) => notSent.push(intendedAt - startAt),
          serve: () => clock.until(clock.now() + 25),
        }),
      );
    await clock.run(Promise.all([loop([0, 20, 40]), loop([10, 30, 50])]));
    expect(sent).toEqual([0, 10, 30, 40]);
    expect(notSent).toEqual([20, 50]);
    expect(inFlight.peak).toBe(2);
  });

  it('reports how late an arrival was sent when the harness itself falls behind', async () => {
    const startAt = clock.now();
    await clock.run(clock.until(startAt + 100));
    const lags: number[] = [];
    await clock.run(
      runOpenLoop(options({ startAt, schedule: every(50, 3), onSent: (_, lagMs) => lags.push(lagMs) })),
    );
    expect(lags).toEqual([100, 50, 0]);
  });

  it('ends early when told to, and still waits for requests in flight', async () => {
    const stopped = new AbortController();
    const startAt = clock.now();
    let served = 0;
    await clock.run(
      runOpenLoop(
        options({
          schedule: every(10, 1_000),
          signal: stopped.signal,
          onSent: (intendedAt) => {
            if (intendedAt - startAt === 30) stopped.abort();
          },
          serve: async () => {
            await clock.until(startAt + 500);
            served++;
          },
        }),
      ),
    );
    expect(served).toBe(4);
  });

  it('ends with the error of a failed caller', async () => {
    const broken = runOpenLoop(
      options({ schedule: every(10, 5), serve: () => Promise.reject(new Error('a bug')) }),
    );
    await expect(clock.run(broken)).rejects.toThrow('a bug');
  });
});

/** Serves one request after another, 1 ms each, and none during the stall. */
function createServer(clock: Clock, stall: { fromMs: number; untilMs: number }) {
  let freeAt = 0;
  return {
    /** Resolves, once the request is answered, to the time when it began. */
    async request(): Promise<number> {
      const free = Math.max(freeAt, clock.now());
      const begunAt = free >= stall.fromMs && free < stall.untilMs ? stall.untilMs : free;
      freeAt = begunAt + 1;
      await clock.until(freeAt);
      return begunAt;
    },
  };
}
