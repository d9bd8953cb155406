import { mean, quantile } from '@lipsync/local-stack';
import { createRandom, type Random } from './distributions';
import { type JobTrace, type RenderArrival, simulate } from './simulate';

const waitOf = ({ claimedAt, availableAt }: JobTrace): number => claimedAt - availableAt;

/** Poisson arrivals of renders with ready media and one job. */
function poisson(
  random: Random,
  options: { count: number; perSecond: number; service: () => number; customers?: number },
): RenderArrival[] {
  let atSeconds = 0;
  return Array.from({ length: options.count }, (_, index) => {
    atSeconds += random.exponential(1 / options.perSecond);
    const customer = `customer-${index % (options.customers ?? 1)}`;
    const jobs = [{ queue: 'musetalk', serviceSeconds: options.service() }];
    return { atSeconds, customer, ingestSeconds: [], jobs };
  });
}

function station(arrivals: readonly RenderArrival[], servers: number, runningJobsMax = Infinity) {
  return simulate({
    arrivals,
    pools: [{ name: 'pool', queues: ['musetalk'], slotsPerPod: 1, pods: servers }],
    policy: { runningJobsMax, pickupSeconds: 0 },
  });
}

describe('the simulation, compared with closed-form results', () => {
  const relativeError = (measured: number, exact: number): number => Math.abs(measured / exact - 1);

  // Erlang C: with P the probability of waiting, the mean wait is P · s / (c · (1 - ρ)), and a share q of the arrivals
  // waits for no longer than ln(P / (1 - q)) · s / (c · (1 - ρ)).
  it.each([
    { station: 'M/M/1 at 0.7', perSecond: 0.7, seconds: 1, servers: 1, mean: 2.333, p95: 8.797 },
    { station: 'M/M/1 at 0.5', perSecond: 0.5, seconds: 1, servers: 1, mean: 1, p95: 4.605 },
    { station: 'M/M/4 at 0.7', perSecond: 0.35, seconds: 8, servers: 4, mean: 2.858, p95: 14.324 },
    { station: 'M/M/12 at 0.75', perSecond: 0.45, seconds: 20, servers: 12, mean: 1.774, p95: 11.144 },
  ])('has the mean and the 95th percentile of the wait of $station', (exact) => {
    const random = createRandom(7);
    const { perSecond, seconds, servers } = exact;
    const service = (): number => random.exponential(seconds);
    const waits = station(poisson(random, { count: 60_000, perSecond, service }), servers).jobs.map(waitOf);
    expect(relativeError(mean(waits), exact.mean)).toBeLessThan(0.08);
    expect(relativeError(quantile(waits, 0.95), exact.p95)).toBeLessThan(0.08);
  });

  // Pollaczek and Khinchine: ρ · s / (1 - ρ) · (1 + cv²) / 2.
  it.each([
    { station: 'M/D/1', cv: 0, exact: 0.75 },
    { station: 'M/G/1 with twice the variance of the exponential', cv: Math.SQRT2, exact: 2.25 },
  ])('has the mean wait of $station', ({ cv, exact }) => {
    const random = createRandom(11);
    const service = (): number => random.gamma(1, cv);
    const arrivals = poisson(random, { count: 60_000, perSecond: 0.6, service });
    expect(relativeError(mean(station(arrivals, 1).jobs.map(waitOf)), exact)).toBeLessThan(0.08);
  });

  it('gives the same run for the same seed', () => {
    const run = () => {
      const random = createRandom(5);
      return station(poisson(random, { count: 500, perSecond: 1, service: () => random.gamma(3, 1) }), 4);
    };
    expect(run().renders).toEqual(run().renders);
  });
});

describe('the policy of the service in the simulation', () => {
  const at = (atSeconds: number, customer: string, ...ingestSeconds: number[]): RenderArrival => ({
    atSeconds,
    customer,
    ingestSeconds,
    jobs: [{ queue: 'musetalk', serviceSeconds: 10 }],
  });
  const policy = { runningJobsMax: 4, pickupSeconds: 0 };

  it('starts one customer’s single render in the next free slots, behind another’s thousand', () => {
    const arrivals = [...Array.from({ length: 1000 }, () => at(0, 'big')), at(5, 'small')];
    const { jobs } = station(arrivals, 2);
    const small = jobs.find(({ customer }) => customer === 'small');
    expect(small && waitOf(small)).toBeLessThanOrEqual(15);
    expect(jobs).toHaveLength(1001);
  });

  it('keeps a customer to its cap of running jobs even while slots are idle', () => {
    const random = createRandom(1);
    const arrivals = poisson(random, { count: 40, perSecond: 100, service: () => 10 });
    const { jobs } = station(arrivals, 20, 4);
    // Forty jobs of ten seconds, four at a time.
    expect(Math.max(...jobs.map(({ endedAt }) => endedAt))).toBeGreaterThanOrEqual(100);
  });

  it('ingests a new customer’s file at once, while each of another’s many takes minutes', () => {
    const { jobs } = simulate({
      arrivals: [...Array.from({ length: 50 }, () => at(0, 'slow', 180)), at(5, 'small', 1)],
      pools: [
        { name: 'media', queues: ['media'], slotsPerPod: 2, pods: 2 },
        { name: 'gpu', queues: ['musetalk'], slotsPerPod: 1, pods: 1 },
      ],
      policy,
    });
    expect(jobs.find(({ customer }) => customer === 'small')).toMatchObject({ queue: 'media', claimedAt: 5 });
  });

  it('renders only what was ingested, and starts an engine only after all its media', () => {
    const { jobs, renders } = simulate({
      arrivals: [
        {
          ...at(0, 'one', 3, 5),
          jobs: [
            { queue: 'musetalk', serviceSeconds: 10 },
            { queue: 'highsync', serviceSeconds: 20 },
          ],
        },
      ],
      pools: [
        { name: 'media', queues: ['media'], slotsPerPod: 2, pods: 1 },
        { name: 'gpu', queues: ['musetalk', 'highsync'], slotsPerPod: 1, pods: 1 },
      ],
      policy,
    });
    expect(jobs.map(({ queue, claimedAt }) => [queue, claimedAt])).toEqual([
      ['media', 0],
      ['media', 0],
      ['musetalk', 5],
      ['highsync', 15],
    ]);
    expect(renders).toMatchObject([{ readyAt: 5, endedAt: 35 }]);
  });

  it('refuses work that no pool serves', () => {
    const arrivals = poisson(createRandom(1), { count: 1, perSecond: 1, service: () => 1 });
    expect(() => simulate({ arrivals, pools: [], policy })).toThrow('no pool serves');
  });
});
