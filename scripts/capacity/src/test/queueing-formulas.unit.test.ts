import { meanWait, meanWaitGeneral, waitProbability, waitQuantile } from './queueing-formulas';

describe('Erlang C', () => {
  it('agrees with published values', () => {
    // Two servers at ρ = 0.5: C = 1/3. Ten servers and 8 Erlang: 0.409 (tables of Cooper, Introduction to Queueing Theory).
    expect(waitProbability({ arrivalsPerSecond: 1, serviceSeconds: 1, servers: 2 })).toBeCloseTo(1 / 3, 12);
    expect(waitProbability({ arrivalsPerSecond: 8, serviceSeconds: 1, servers: 10 })).toBeCloseTo(0.409, 3);
  });

  it('is ρ/(1-ρ) service times for one server, half of that for equal service times', () => {
    const station = { arrivalsPerSecond: 0.8, serviceSeconds: 1, servers: 1 };
    expect(meanWait(station)).toBeCloseTo(4, 12);
    expect(meanWaitGeneral(station, 0)).toBeCloseTo(2, 12);
    expect(meanWaitGeneral(station, 1)).toBeCloseTo(4, 12);
  });

  it('has the quantiles of an exponential tail beyond the share that does not wait', () => {
    const station = { arrivalsPerSecond: 0.5, serviceSeconds: 1, servers: 1 };
    expect(waitQuantile(station, 0.5)).toBe(0);
    expect(waitQuantile(station, 0.95)).toBeCloseTo(Math.log(0.5 / 0.05) / 0.5, 12);
  });
});
