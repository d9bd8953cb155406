import { quantile } from '@lipsync/scripts';
import { mean } from './mean';
import { createRandom, type Random } from './random';
import { simulate } from './simulate';
import { type RenderArrival, SERVICE_POLICY } from './simulation-input';
import { type JobTrace } from './simulation-result';
import { meanWait, meanWaitGeneral, type Station, utilisation, waitQuantile } from './test/queueing-formulas';

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
    policy: { ...SERVICE_POLICY, runningJobsMax, pickupSeconds: 0 },
  });
}

describe('the simulation, compared with closed-form results', () => {
  const relativeError = (measured: number, exact: number): number => Math.abs(measured / exact - 1);

  it.each([
    ['M/M/1 at 0.7', { arrivalsPerSecond: 0.7, serviceSeconds: 1, servers: 1 }],
    ['M/M/1 at 0.5', { arrivalsPerSecond: 0.5, serviceSeconds: 1, servers: 1 }],
    ['M/M/4 at 0.7', { arrivalsPerSecond: 0.35, serviceSeconds: 8, servers: 4 }],
    ['M/M/12 at 0.75', { arrivalsPerSecond: 0.45, serviceSeconds: 20, servers: 12 }],
  ] satisfies [string, Station][])('has the mean and the 95th percentile of the wait of %s', (_, given) => {
    const random = createRandom(7);
    const arrivals = poisson(random, {
      count: 60_000,
      perSecond: given.arrivalsPerSecond,
      service: () => random.exponential(given.serviceSeconds),
    });
    const waits = station(arrivals, given.servers).jobs.map(waitOf);
    expect(relativeError(mean(waits), meanWait(given))).toBeLessThan(0.08);
    expect(relativeError(quantile(waits, 0.95), waitQuantile(given, 0.95))).toBeLessThan(0.08);
  });

  it.each([
    ['M/D/1', 0],
    ['M/G/1 with twice the variance of the exponential', Math.SQRT2],
  ])('has the mean wait of %s (Pollaczek and Khinchine)', (_, cv) => {
    const random = createRandom(11);
    const given = { arrivalsPerSecond: 0.6, serviceSeconds: 1, servers: 1 };
    const arrivals = poisson(random, {
      count: 60_000,
      perSecond: 0.6,
      service: () => random.gamma(1, cv),
    });
    const waits = station(arrivals, 1).jobs.map(waitOf);
    expect(relativeError(mean(waits), meanWaitGeneral(given, cv))).toBeLessThan(0.08);
  });

  it('obeys Little’s law, and keeps slots busy for exactly the work that arrived', () => {
    const random = createRandom(3);
    const arrivals = poisson(random, {
      count: 20_000,
      perSecond: 0.7,
      service: () => random.gamma(4, 0.5),
      customers: 9,
    });
    const result = station(arrivals, 4);
    const perSecond = result.jobs.length / result.endedAt;
    expect(result.meanWaiting.get('musetalk')).toBeCloseTo(perSecond * mean(result.jobs.map(waitOf)), 6);
    const work = arrivals.reduce((sum, { jobs }) => sum + (jobs[0]?.serviceSeconds ?? 0), 0);
    expect(result.pools.get('pool')?.busySlotSeconds).toBeCloseTo(work, 3);
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
  it('starts one customer’s single render in the next free slots, behind another’s thousand', () => {
    const at = (atSeconds: number, customer: string): RenderArrival => ({
      ...{ atSeconds, customer, ingestSeconds: [] },
      jobs: [{ queue: 'musetalk', serviceSeconds: 10 }],
    });
    const arrivals = [...Array.from({ length: 1000 }, () => at(0, 'big')), at(5, 'small')];
    const { jobs } = station(arrivals, 2);
    const small = jobs.find(({ customer }) => customer === 'small');
    // Two slots: at most one previously announced job per slot goes first.
    expect(small && waitOf(small)).toBeLessThanOrEqual(15);
    expect(jobs).toHaveLength(1001);
  });

  it('keeps a customer to its cap of running jobs even while slots are idle', () => {
    const random = createRandom(1);
    const arrivals = poisson(random, { count: 40, perSecond: 100, service: () => 10 });
    const { endedAt, pools } = station(arrivals, 20, 4);
    expect(endedAt).toBeGreaterThanOrEqual(100);
    expect(pools.get('pool')?.podsMax).toBe(20);
  });

  it('ingests a new customer’s file at once, while each of another’s many takes minutes', () => {
    const at = (atSeconds: number, customer: string, ingestSeconds: number): RenderArrival => ({
      ...{ atSeconds, customer, ingestSeconds: [ingestSeconds] },
      jobs: [{ queue: 'musetalk', serviceSeconds: 10 }],
    });
    const { jobs } = simulate({
      arrivals: [...Array.from({ length: 50 }, () => at(0, 'slow', 180)), at(5, 'small', 1)],
      pools: [
        { name: 'media', queues: ['media'], slotsPerPod: 2, pods: 2 },
        { name: 'gpu', queues: ['musetalk'], slotsPerPod: 1, pods: 1 },
      ],
      policy: { ...SERVICE_POLICY, pickupSeconds: 0 },
    });
    expect(jobs.find(({ customer }) => customer === 'small')).toMatchObject({ queue: 'media', claimedAt: 5 });
  });

  it('renders only what was ingested, and starts an engine only after all its media', () => {
    const { jobs, renders } = simulate({
      arrivals: [
        {
          ...{ atSeconds: 0, customer: 'one', ingestSeconds: [3, 5] },
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
      policy: { ...SERVICE_POLICY, pickupSeconds: 0 },
    });
    expect(jobs.map(({ queue, claimedAt }) => [queue, claimedAt])).toEqual([
      ['media', 0],
      ['media', 0],
      ['musetalk', 5],
      ['highsync', 15],
    ]);
    expect(renders).toMatchObject([{ readyAt: 5, startedAt: 5, endedAt: 35 }]);
  });

  it('refuses work that no pool serves', () => {
    const arrivals = poisson(createRandom(1), { count: 1, perSecond: 1, service: () => 1 });
    expect(() => simulate({ arrivals, pools: [], policy: SERVICE_POLICY })).toThrow('no pool serves');
  });
});

describe('pools that scale', () => {
  const settings = {
    ...{ minPods: 0, maxPods: 8, jobsPerPod: 2, oldestSeconds: 300, pollSeconds: 15, upPerMinute: 4 },
    ...{ cooldownSeconds: 300, startSeconds: 90, graceSeconds: 20 },
  };
  const scaled = (arrivals: readonly RenderArrival[], changes: Partial<typeof settings> = {}) =>
    simulate({
      arrivals,
      pools: [{ name: 'gpu', queues: ['musetalk'], slotsPerPod: 1, pods: { ...settings, ...changes } }],
      policy: { ...SERVICE_POLICY, runningJobsMax: 100, pickupSeconds: 0 },
    });
  const burst = (count: number, atSeconds: number, serviceSeconds = 30): RenderArrival[] =>
    Array.from({ length: count }, () => ({
      ...{ atSeconds, customer: 'one', ingestSeconds: [] },
      jobs: [{ queue: 'musetalk', serviceSeconds }],
    }));

  it('cost nothing while there is no work, and make the first job wait for the poll and the start', () => {
    const { jobs, pools } = scaled(burst(1, 1000));
    const [first] = jobs;
    expect(first && waitOf(first)).toBeGreaterThanOrEqual(90);
    expect(first && waitOf(first)).toBeLessThanOrEqual(90 + 15);
    expect(pools.get('gpu')?.podSeconds).toBeLessThan(500);
  });

  it('add pods for a burst, up to the maximum, and remove them when it is over', () => {
    const { pools, renders } = scaled([...burst(40, 0), ...burst(1, 7200)]);
    expect(pools.get('gpu')?.podsMax).toBe(8);
    expect(renders).toHaveLength(41);
    // Two hours of eight pods would be 57 600 pod seconds.
    expect(pools.get('gpu')?.podSeconds).toBeLessThan(8 * 1200);
  });

  it('hand over what a leaving pod cannot finish in its grace period, and still end every render', () => {
    // Long and short jobs: the pool shrinks while a long one runs on the newest pod.
    const arrivals = [...burst(7, 0, 40), ...burst(2, 1, 900)];
    const { pools, renders } = scaled(arrivals, { cooldownSeconds: 30, jobsPerPod: 1, upPerMinute: 8 });
    expect(renders).toHaveLength(arrivals.length);
    expect(pools.get('gpu')?.handedOver).toBeGreaterThan(0);
  });
});

describe('utilisation', () => {
  it('is the share of time in which a server is busy', () => {
    expect(utilisation({ arrivalsPerSecond: 2, serviceSeconds: 3, servers: 10 })).toBeCloseTo(0.6);
    expect(meanWait({ arrivalsPerSecond: 2, serviceSeconds: 3, servers: 6 })).toBe(Infinity);
  });
});
