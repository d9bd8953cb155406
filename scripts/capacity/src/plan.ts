import { quantile } from '@lipsync/scripts';
import { type AutoscalerSettings } from './autoscaler';
import { mean } from './mean';
import { type Prices, type Profile } from './profile';
import { createRandom } from './random';
import { type SharedDemand, sharedDemand } from './shared-demand';
import { simulate } from './simulate';
import { MEDIA_QUEUE, type PolicySettings, type PoolSettings, SERVICE_POLICY } from './simulation-input';
import { type SimulationResult } from './simulation-result';
import { arrivalsOf, type Workload } from './workload';

export interface PlanTargets {
  /** 95 % of engine jobs start within this many seconds of being ready. */
  readonly startSeconds: number;
  /** 95 % of ingests start within this many seconds. */
  readonly ingestStartSeconds: number;
  /** No pool is busy for more than this share of its time. */
  readonly utilisation: number;
  /** Requests per second that one api pod answers within its latency objective. */
  readonly apiRequestsPerPod: number;
  readonly runningJobsMax: number;
}

export interface PlannedPool {
  readonly kind: string;
  readonly pods: number;
  readonly utilisation: number;
  /** Null if the pool was not simulated. */
  readonly waitP50: number | null;
  readonly waitP95: number | null;
  readonly costPerHour: number | null;
}

export interface Plan {
  readonly pools: readonly PlannedPool[];
  readonly endToEndP50: number;
  readonly endToEndP95: number;
  readonly costPerHour: number | null;
  readonly costPerRender: number | null;
  readonly shared: SharedDemand;
}

type FixedPool = PoolSettings & { readonly pods: number };

interface Question {
  readonly profile: Profile;
  readonly workload: Workload;
  readonly targets: PlanTargets;
  readonly prices: Prices | null;
}

/** Pools that handle the workload within the targets. */
interface SufficientPools {
  readonly pools: readonly FixedPool[];
  readonly result: SimulationResult;
  /** Average number of busy slots of a queue. */
  readonly load: (queue: string) => number;
}

/** Enough arrivals for a stable 95th percentile, and long enough that the empty start does not matter. */
const ARRIVALS = 4000;
const SHORTEST_SECONDS = 7200;
const SEED = 1;
/** If this many rounds of adding a pod do not help, the remaining waits are not for pods. */
const VAIN_ROUNDS = 3;
/** Two, so that losing a node or rolling out a version stops nothing. */
const REDUNDANT = 2;

/**
 * The smallest fixed pools that handle the workload within the targets, found by simulating and adding pods where it
 * fails.
 */
export function plan(
  profile: Profile,
  workload: Workload,
  targets: PlanTargets,
  prices: Prices | null,
): Plan {
  const durationSeconds = Math.max(SHORTEST_SECONDS, (ARRIVALS / workload.rendersPerHour) * 3600);
  const arrivals = arrivalsOf(workload, profile, createRandom(SEED), { durationSeconds });
  const work = new Map<string, number>();
  const add = (queue: string, seconds: number): void =>
    void work.set(queue, (work.get(queue) ?? 0) + seconds);
  for (const { ingestSeconds, jobs } of arrivals) {
    for (const seconds of ingestSeconds) add(MEDIA_QUEUE, seconds);
    for (const { queue, serviceSeconds } of jobs) add(queue, serviceSeconds);
  }
  /** Average number of busy slots. */
  const load = (queue: string): number => (work.get(queue) ?? 0) / durationSeconds;
  const needed = (queue: string, slots: number): number =>
    Math.max(1, Math.ceil(load(queue) / slots / targets.utilisation));
  const { slots } = profile;
  let pools: FixedPool[] = [
    pool('media-worker', MEDIA_QUEUE, slots.media, Math.max(REDUNDANT, needed(MEDIA_QUEUE, slots.media))),
    ...[...work.keys()]
      .filter((queue) => queue !== MEDIA_QUEUE)
      .map((queue) => pool(`gpu-worker/${queue}`, queue, slots.gpu, needed(queue, slots.gpu))),
  ];
  const policy = policyOf(profile, targets);
  const stalls = new Map<string, { p95: number; rounds: number }>();
  for (;;) {
    const result = simulate({ arrivals, pools, policy });
    const late = new Map(
      pools
        .map((each) => [each.name, lateness(each, result, targets)] as const)
        .filter(([, { p95, limit }]) => p95 > limit),
    );
    if (late.size === 0) return report({ profile, workload, targets, prices }, { pools, result, load });
    for (const [name, { p95 }] of late) {
      const before = stalls.get(name);
      const rounds = before && p95 > 0.99 * before.p95 ? before.rounds + 1 : 0;
      if (rounds >= VAIN_ROUNDS)
        throw new Error(
          `${name}: more pods do not shorten the wait; customers wait for the jobs that they may run at once`,
        );
      stalls.set(name, { p95, rounds });
    }
    pools = pools.map((each) => (late.has(each.name) ? { ...each, pods: each.pods + 1 } : each));
  }
}

function pool(name: string, queue: string, slotsPerPod: number, pods: number): FixedPool {
  return { name, queues: [queue], slotsPerPod, pods };
}

function policyOf({ pickup_seconds }: Profile, { runningJobsMax }: PlanTargets): PolicySettings {
  return { ...SERVICE_POLICY, pickupSeconds: pickup_seconds, runningJobsMax };
}

function waitsOf(queues: readonly string[], { jobs }: SimulationResult): number[] {
  return jobs
    .filter(({ queue }) => queues.includes(queue))
    .map(({ claimedAt, availableAt }) => claimedAt - availableAt);
}

function lateness({ queues }: PoolSettings, result: SimulationResult, targets: PlanTargets) {
  const limit = queues.includes(MEDIA_QUEUE) ? targets.ingestStartSeconds : targets.startSeconds;
  return { limit, p95: quantile(waitsOf(queues, result), 0.95) };
}

function report(
  { profile, workload, targets, prices }: Question,
  { pools, result, load }: SufficientPools,
): Plan {
  const price = (kind: string, pods: number): number | null => {
    const each = prices?.pod_hour[kind];
    return each === undefined ? null : each * pods;
  };
  const perSecond = workload.rendersPerHour / 3600;
  const unsimulated = (kind: string, busy: number): PlannedPool => {
    const pods = Math.max(REDUNDANT, Math.ceil(busy / targets.utilisation));
    return {
      kind,
      pods,
      utilisation: busy / pods,
      waitP50: null,
      waitP95: null,
      costPerHour: price(kind, pods),
    };
  };
  const { per_render, webhook, slots } = profile;
  const planned = [
    unsimulated('api', (perSecond * per_render.api_requests) / targets.apiRequestsPerPod),
    ...pools.map(({ name, queues, pods, slotsPerPod }) => {
      const waits = waitsOf(queues, result);
      return {
        ...{ kind: name, pods, costPerHour: price(name, pods) },
        utilisation: queues.reduce((sum, queue) => sum + load(queue), 0) / (pods * slotsPerPod),
        waitP50: quantile(waits, 0.5),
        waitP95: quantile(waits, 0.95),
      };
    }),
    unsimulated('webhook-dispatcher', (perSecond * webhook.attempt_seconds) / slots.webhook),
  ];
  const podsOf = (kind: string): number => planned.find((each) => each.kind === kind)?.pods ?? 0;
  const endToEnd = result.renders.map(({ createdAt, endedAt }) => endedAt - createdAt);
  const known = prices !== null && planned.every(({ costPerHour }) => costPerHour !== null);
  const cost = known
    ? planned.reduce((sum, { costPerHour }) => sum + (costPerHour ?? 0), prices.fixed_hour)
    : null;
  return {
    pools: planned,
    endToEndP50: quantile(endToEnd, 0.5),
    endToEndP95: quantile(endToEnd, 0.95),
    costPerHour: cost,
    costPerRender: cost === null ? null : cost / workload.rendersPerHour,
    shared: sharedDemand(profile, workload.rendersPerHour, {
      all: planned.reduce((sum, { pods }) => sum + pods, 0),
      idleAsking: Math.max(podsOf('media-worker'), podsOf('webhook-dispatcher')),
    }),
  };
}

export interface ScaledDay {
  readonly engine: string;
  readonly podHours: number;
  readonly podsMax: number;
  readonly waitP50: number;
  readonly waitP95: number;
  readonly handedOver: number;
}

/** Simulates a day whose rate rises from `trough` of its peak and falls again, with autoscaled pools. */
export function simulateDay(
  profile: Profile,
  workload: Workload,
  targets: PlanTargets,
  autoscaler: AutoscalerSettings,
  trough: number,
): ScaledDay[] {
  const day = 86_400;
  const rateAt = (at: number): number =>
    trough + ((1 - trough) * (1 - Math.cos((2 * Math.PI * at) / day))) / 2;
  const arrivals = arrivalsOf(workload, profile, createRandom(SEED), { durationSeconds: day, rateAt });
  const engines = Object.keys(workload.engines);
  const mediaSeconds = mean(arrivals.map(({ ingestSeconds }) => ingestSeconds.reduce((a, b) => a + b, 0)));
  const media = Math.ceil(
    ((workload.rendersPerHour / 3600) * mediaSeconds) / profile.slots.media / targets.utilisation,
  );
  const result = simulate({
    arrivals,
    pools: [
      pool('media-worker', MEDIA_QUEUE, profile.slots.media, Math.max(REDUNDANT, media)),
      ...engines.map((engine) => ({ ...pool(engine, engine, profile.slots.gpu, 0), pods: autoscaler })),
    ],
    policy: policyOf(profile, targets),
  });
  return engines.map((engine) => {
    const waits = waitsOf([engine], result);
    const use = result.pools.get(engine);
    return {
      ...{ engine, podHours: (use?.podSeconds ?? 0) / 3600, podsMax: use?.podsMax ?? 0 },
      ...{ waitP50: quantile(waits, 0.5), waitP95: quantile(waits, 0.95), handedOver: use?.handedOver ?? 0 },
    };
  });
}
