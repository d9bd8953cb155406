import { quantile } from '@lipsync/local-stack';
import { createRandom, mean, type Random } from './distributions';
import { type JobTrace, type RenderArrival, SERVICE_POLICY, simulate } from './simulate';

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
      atSeconds,
      customer,
      ingestSeconds: [],
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
    const { jobs } = station(arrivals, 20, 4);
    // Forty jobs of ten seconds, four at a time.
    expect(Math.max(...jobs.map(({ endedAt }) => endedAt))).toBeGreaterThanOrEqual(100);
  });

  it('ingests a new customer’s file at once, while each of another’s many takes minutes', () => {
    const at = (atSeconds: number, customer: string, ingestSeconds: number): RenderArrival => ({
      atSeconds,
      customer,
      ingestSeconds: [ingestSeconds],
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
          atSeconds: 0,
          customer: 'one',
          ingestSeconds: [3, 5],
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
    expect(renders).toMatchObject([{ readyAt: 5, endedAt: 35 }]);
  });

  it('refuses work that no pool serves', () => {
    const arrivals = poisson(createRandom(1), { count: 1, perSecond: 1, service: () => 1 });
    expect(() => simulate({ arrivals, pools: [], policy: SERVICE_POLICY })).toThrow('no pool serves');
  });
});

describe('utilization', () => {
  it('is the share of time in which a server is busy', () => {
    expect(utilization({ arrivalsPerSecond: 2, serviceSeconds: 3, servers: 10 })).toBeCloseTo(0.6);
    expect(meanWait({ arrivalsPerSecond: 2, serviceSeconds: 3, servers: 6 })).toBe(Infinity);
  });
});

/** A station of `servers` identical servers with `arrivalsPerSecond`, each job taking `serviceSeconds` on average. */
interface Station {
  readonly arrivalsPerSecond: number;
  readonly serviceSeconds: number;
  readonly servers: number;
}

/** Share of time in which a server is busy; from 1 the queue grows without bound. */
function utilization({ arrivalsPerSecond, serviceSeconds, servers }: Station): number {
  return (arrivalsPerSecond * serviceSeconds) / servers;
}

/** Erlang C: the probability that an arrival of an M/M/c station has to wait. */
function waitProbability(station: Station): number {
  const load = station.arrivalsPerSecond * station.serviceSeconds;
  const busy = utilization(station);
  if (busy >= 1) return 1;
  // Erlang B by its recursion, which neither overflows nor loses precision, then C from B.
  let blocking = 1;
  for (let servers = 1; servers <= station.servers; servers++)
    blocking = (load * blocking) / (servers + load * blocking);
  return blocking / (1 - busy * (1 - blocking));
}

/** Mean wait of an M/M/c station in seconds. */
function meanWait(station: Station): number {
  const busy = utilization(station);
  if (busy >= 1) return Infinity;
  return (waitProbability(station) * station.serviceSeconds) / (station.servers * (1 - busy));
}

/**
 * Mean wait of an M/G/c station by the approximation of Lee and Longton (1959): the M/M/c wait, scaled by the
 * variability of the service. Exact for one server (Pollaczek and Khinchine).
 */
function meanWaitGeneral(station: Station, serviceCv: number): number {
  return (meanWait(station) * (1 + serviceCv * serviceCv)) / 2;
}

/** The wait that a share `quantile` of the arrivals of an M/M/c station does not exceed, in seconds. */
function waitQuantile(station: Station, quantile: number): number {
  const busy = utilization(station);
  if (busy >= 1) return Infinity;
  const waits = waitProbability(station);
  if (1 - quantile >= waits) return 0;
  return (Math.log(waits / (1 - quantile)) * station.serviceSeconds) / (station.servers * (1 - busy));
}

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
