import { createRandom } from '@lipsync/local-stack';
import { type ArrivalPlan, arrivalSchedule, offeredRate } from '../callers/arrival-schedule';

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
  it('offers the requested rate', () => {
    // 10 000 expected; five standard deviations of a Poisson count are 500.
    expect(Math.abs(times(poisson()).length - 10_000)).toBeLessThan(500);
  });

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

  it('rises, and ends with its duration', () => {
    const arrivals = times(poisson({ durationSeconds: 3 }));
    expect(arrivals).toEqual([...arrivals].sort((a, b) => a - b));
    expect(Math.max(...arrivals)).toBeLessThan(3000);
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
