import { RECORD_TTL_SECONDS, TOMBSTONE_SECONDS } from '@lipsync/domain';
import { quantile } from '@lipsync/local-stack';
import { createRandom } from './distributions';
import { type Prices, type Profile } from './profile';
import { MEDIA_QUEUE, type PoolSettings, simulate, type SimulationResult } from './simulate';
import { arrivalsOf, type Workload } from './workload';

export interface PlanTargets {
  /** 95 % of engine jobs start within this many seconds of being ready. */
  readonly startSeconds: number;
  /** 95 % of ingests start within this many seconds. */
  readonly ingestStartSeconds: number;
  /** No pool is busy for more than this share of its time. */
  readonly utilization: number;
  /** Requests per second that one api pod answers within its latency objective. */
  readonly apiRequestsPerPod: number;
  readonly runningJobsMax: number;
}

interface PlannedPool {
  readonly kind: string;
  readonly pods: number;
  readonly utilization: number;
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

interface Question {
  readonly profile: Profile;
  readonly workload: Workload;
  readonly targets: PlanTargets;
  readonly prices: Prices | null;
}

/** Pools that handle the workload within the targets. */
interface SufficientPools {
  readonly pools: readonly PoolSettings[];
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
  const arrivals = arrivalsOf(workload, profile, createRandom(SEED), durationSeconds);
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
    Math.max(1, Math.ceil(load(queue) / slots / targets.utilization));
  const { slots } = profile;
  let pools: PoolSettings[] = [
    pool('media-worker', MEDIA_QUEUE, slots.media, Math.max(REDUNDANT, needed(MEDIA_QUEUE, slots.media))),
    ...Object.keys(workload.engines)
      .filter((queue) => work.has(queue))
      .map((queue) => pool(`gpu-worker/${queue}`, queue, slots.gpu, needed(queue, slots.gpu))),
  ];
  const policy = { pickupSeconds: profile.pickup_seconds, runningJobsMax: targets.runningJobsMax };
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

function pool(name: string, queue: string, slotsPerPod: number, pods: number): PoolSettings {
  return { name, queues: [queue], slotsPerPod, pods };
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
    const pods = Math.max(REDUNDANT, Math.ceil(busy / targets.utilization));
    return {
      kind,
      pods,
      utilization: busy / pods,
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
        kind: name,
        pods,
        costPerHour: price(name, pods),
        utilization: queues.reduce((sum, queue) => sum + load(queue), 0) / (pods * slotsPerPod),
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

/** The total load of all pods on the one Postgres and the one Redis. */
interface SharedDemand {
  readonly postgres: {
    /** Upper bound: every pod has a connection pool (default DATABASE_POOL_MAX). */
    readonly connections: number;
    readonly transactionsPerSecond: number;
    readonly cores: number;
    readonly walBytesPerSecond: number;
    /** Rows and indexes of records and their tombstones, if this rate lasted all day. */
    readonly storedBytes: number;
  };
  readonly redis: { readonly commandsPerSecond: number; readonly cores: number };
}

const CONNECTIONS_PER_POD = 10;

/**
 * Renders cause load by their number, processes by running. Of the processes, media workers and dispatchers poll while
 * idle. Both were measured together, so `idleAsking` is the larger of their numbers.
 */
export function sharedDemand(
  { per_render, idle }: Pick<Profile, 'per_render' | 'idle'>,
  rendersPerHour: number,
  pods: { readonly all: number; readonly idleAsking: number },
): SharedDemand {
  const perSecond = rendersPerHour / 3600;
  const rate = (ofRender: number, ofIdle: number): number => perSecond * ofRender + pods.idleAsking * ofIdle;
  const cores = (server: string): number =>
    rate(per_render.cpu_seconds[server] ?? 0, idle.cpu_seconds_per_second[server] ?? 0);
  return {
    postgres: {
      connections: pods.all * CONNECTIONS_PER_POD,
      transactionsPerSecond: rate(per_render.database_transactions, idle.database_transactions_per_second),
      cores: cores('postgres'),
      walBytesPerSecond: perSecond * per_render.wal_bytes,
      storedBytes: perSecond * per_render.stored_row_bytes * (RECORD_TTL_SECONDS + TOMBSTONE_SECONDS),
    },
    redis: {
      commandsPerSecond: rate(per_render.redis_commands, idle.redis_commands_per_second),
      cores: cores('redis'),
    },
  };
}
