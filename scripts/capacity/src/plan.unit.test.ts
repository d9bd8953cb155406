import { plan, type PlanTargets, sharedDemand } from './plan';
import { profileOf } from './test/profile';
import { type Workload } from './workload';

const model = {
  fixed_seconds: 2,
  seconds_per_media_second: 1,
  analysis_seconds_per_video_second: 0.5,
  scatter: 0.3,
};
const profile = profileOf({
  media: { ...model, seconds_per_media_second: 0, analysis_seconds_per_video_second: 0 },
  engines: { musetalk: model, highsync: { ...model, seconds_per_media_second: 10 } },
  pickup_seconds: 0.05,
});
const workload: Workload = {
  rendersPerHour: 600,
  engines: { musetalk: 0.8, highsync: 0.2 },
  outputSeconds: 10,
  outputVariation: 0.5,
  newVideoShare: 0.5,
  customers: 200,
};
const targets: PlanTargets = {
  startSeconds: 60,
  ingestStartSeconds: 10,
  utilization: 0.8,
  apiRequestsPerPod: 200,
  runningJobsMax: 4,
};
const prices = {
  currency: 'USD',
  pod_hour: {
    api: 0.1,
    'media-worker': 0.2,
    'webhook-dispatcher': 0.3,
    'gpu-worker/musetalk': 1,
    'gpu-worker/highsync': 2,
  },
  fixed_hour: 5,
};

describe('plan', () => {
  const pods = (changes: Partial<Workload>, others: Partial<PlanTargets> = {}): Map<string, number> =>
    new Map(
      plan(profile, { ...workload, ...changes }, { ...targets, ...others }, null).pools.map((pool) => [
        pool.kind,
        pool.pods,
      ]),
    );

  it('meets the targets in every pool, and never with fewer pods than the work needs', () => {
    const { pools, endToEndP95, endToEndP50 } = plan(profile, workload, targets, null);
    expect(pools.map(({ kind }) => kind)).toEqual([
      ...['api', 'media-worker', 'gpu-worker/musetalk', 'gpu-worker/highsync', 'webhook-dispatcher'],
    ]);
    for (const { utilization, waitP95 } of pools) {
      expect(utilization).toBeLessThanOrEqual(0.82);
      expect(waitP95 ?? 0).toBeLessThanOrEqual(60);
    }
    expect(endToEndP95).toBeGreaterThan(endToEndP50);
  });

  it('grows with the renders, with longer outputs and with a tighter target', () => {
    const gpu = (found: Map<string, number>): number => found.get('gpu-worker/musetalk') ?? 0;
    const usual = gpu(pods({}));
    expect(gpu(pods({ rendersPerHour: 1800 }))).toBeGreaterThan(2 * usual);
    expect(gpu(pods({ outputSeconds: 40 }))).toBeGreaterThan(2 * usual);
    expect(gpu(pods({}, { startSeconds: 1 }))).toBeGreaterThan(usual);
  });

  it('adds up the cost of the pods and the rest, also per render', () => {
    const { pools, costPerHour, costPerRender } = plan(profile, workload, targets, prices);
    const sum = pools.reduce((total, { kind, pods: count }) => {
      const price: number | undefined = (prices.pod_hour as Record<string, number>)[kind];
      return total + count * (price ?? NaN);
    }, prices.fixed_hour);
    expect(costPerHour).toBeCloseTo(sum, 9);
    expect(costPerRender).toBeCloseTo(sum / 600, 9);
  });

  it('does not invent a price that it was not given', () => {
    const { pod_hour } = prices;
    const partly = { ...prices, pod_hour: { api: pod_hour.api } };
    expect(plan(profile, workload, targets, partly).costPerHour).toBeNull();
  });

  it('reports when customers wait because of their own cap, not for pods', () => {
    expect(() => pods({ customers: 1, rendersPerHour: 240 }, { runningJobsMax: 1 })).toThrow(
      'may run at once',
    );
  });

  it('refuses an engine that was never measured', () => {
    expect(() => pods({ engines: { latentsync: 1 } })).toThrow('no service times of latentsync');
  });
});

describe('sharedDemand', () => {
  it('adds the load of renders to that of running processes', () => {
    expect(sharedDemand(profile, 7200, { all: 9, idleAsking: 3 })).toEqual({
      postgres: {
        connections: 90,
        transactionsPerSecond: 260,
        cores: expect.closeTo(0.66, 9) as number,
        walBytesPerSecond: 10_000,
        // Two a second for 37 days.
        storedBytes: 2 * 1000 * 37 * 86_400,
      },
      redis: { commandsPerSecond: 130, cores: expect.closeTo(0.02, 9) as number },
    });
  });
});
