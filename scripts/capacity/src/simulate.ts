import { ingestCap } from '@lipsync/domain';

/** The queue of ingests; every other queue holds GPU jobs. */
export const MEDIA_QUEUE = 'media';

/** One create_render and the work that it causes. */
export interface RenderArrival {
  readonly atSeconds: number;
  readonly customer: string;
  /** Service times of the files to be ingested before rendering; empty when they are ready. */
  readonly ingestSeconds: readonly number[];
  /** One job per engine. */
  readonly jobs: readonly { readonly queue: string; readonly serviceSeconds: number }[];
}

/** Pods of one kind. */
export interface PoolSettings {
  readonly name: string;
  /** Asked in turn. */
  readonly queues: readonly string[];
  readonly slotsPerPod: number;
  readonly pods: number;
}

interface PolicySettings {
  /** Maximum running GPU jobs per customer. */
  readonly runningJobsMax: number;
  /** From when a job could start on an idle slot to its claim. */
  readonly pickupSeconds: number;
}

/** The times of one job, in simulated seconds. */
export interface JobTrace {
  readonly queue: string;
  readonly customer: string;
  /** When its render was created. */
  readonly createdAt: number;
  readonly availableAt: number;
  readonly claimedAt: number;
  readonly endedAt: number;
}

interface RenderTrace {
  readonly createdAt: number;
  /** When its media were ready. */
  readonly readyAt: number;
  readonly endedAt: number;
}

export interface SimulationResult {
  readonly jobs: readonly JobTrace[];
  readonly renders: readonly RenderTrace[];
}

interface Render {
  readonly arrival: RenderArrival;
  ingestsLeft: number;
  enginesLeft: number;
  readyAt: number;
}

interface WaitingJob {
  readonly render: Render;
  readonly queue: string;
  readonly serviceSeconds: number;
  readonly availableAt: number;
}

interface RunningJob extends WaitingJob {
  readonly pool: Pool;
  readonly claimedAt: number;
  readonly endedAt: number;
}

interface Pool {
  readonly slots: number;
  queues: readonly string[];
  busy: number;
  /** Its running jobs by customer. */
  readonly running: Map<string, number>;
  readonly waiting: WaitingJob[];
}

/**
 * Simulates renders passing through the service: ingests before renders, and slots that ask their queues in turn and
 * serve the customer who has the fewest jobs running in the pool, oldest job first, and no customer beyond its cap.
 * @throws Error when a job waits for a queue that no pool serves
 */
export function simulate(input: {
  readonly arrivals: readonly RenderArrival[];
  readonly pools: readonly PoolSettings[];
  readonly policy: PolicySettings;
}): SimulationResult {
  const { policy } = input;
  const arrivals = [...input.arrivals].sort((a, b) => a.atSeconds - b.atSeconds);
  const pools = input.pools.map(({ queues, slotsPerPod, pods }): Pool => ({
    queues,
    slots: slotsPerPod * pods,
    busy: 0,
    running: new Map(),
    waiting: [],
  }));
  let now = 0;
  /** In the order of their claims; at most one for each slot. */
  let running: RunningJob[] = [];
  const gpuJobs = new Map<string, number>();
  // The only customer keeps nobody waiting, so it may use the whole capacity.
  const isAlone = new Set(arrivals.map(({ customer }) => customer)).size === 1;
  const jobs: JobTrace[] = [];
  const renders: RenderTrace[] = [];

  function arrive(arrival: RenderArrival): void {
    const { ingestSeconds, jobs: engines } = arrival;
    const render = {
      arrival,
      ingestsLeft: ingestSeconds.length,
      enginesLeft: engines.length,
      readyAt: NaN,
    };
    for (const seconds of ingestSeconds) enqueue(render, MEDIA_QUEUE, seconds);
    if (ingestSeconds.length === 0) mediaReady(render);
  }

  function mediaReady(render: Render): void {
    render.readyAt = now;
    for (const { queue, serviceSeconds } of render.arrival.jobs) enqueue(render, queue, serviceSeconds);
  }

  function enqueue(render: Render, queue: string, serviceSeconds: number): void {
    const pool = pools.find(({ queues }) => queues.includes(queue));
    if (pool === undefined) throw new Error(`no pool serves the queue ${queue}`);
    pool.waiting.push({ render, queue, serviceSeconds, availableAt: now });
    startJobs(pool);
  }

  function startJobs(pool: Pool): void {
    while (pool.busy < pool.slots) {
      const next = nextJob(pool);
      if (next === undefined) return;
      pool.waiting.splice(pool.waiting.indexOf(next), 1);
      pool.queues = [...pool.queues.filter((queue) => queue !== next.queue), next.queue];
      const claimedAt = now + policy.pickupSeconds;
      const started = { ...next, pool, claimedAt, endedAt: claimedAt + next.serviceSeconds };
      count(started, 1);
      running.push(started);
    }
  }

  /** From the queues in turn, of the customer with the fewest running, the oldest. */
  function nextJob({ queues, waiting, running: here, slots }: Pool): WaitingJob | undefined {
    for (const queue of queues) {
      let next: WaitingJob | undefined;
      let fewest = Infinity;
      for (const job of waiting) {
        const { customer } = job.render.arrival;
        const own = here.get(customer) ?? 0;
        if (job.queue !== queue || own >= fewest) continue;
        const mayStart =
          queue === MEDIA_QUEUE
            ? isAlone || own < ingestCap(slots)
            : (gpuJobs.get(customer) ?? 0) < policy.runningJobsMax;
        if (!mayStart) continue;
        next = job;
        fewest = own;
      }
      if (next !== undefined) return next;
    }
    return undefined;
  }

  function count({ pool, queue, render }: RunningJob, by: number): void {
    const { customer } = render.arrival;
    pool.busy += by;
    pool.running.set(customer, (pool.running.get(customer) ?? 0) + by);
    if (queue !== MEDIA_QUEUE) gpuJobs.set(customer, (gpuJobs.get(customer) ?? 0) + by);
  }

  function end(job: RunningJob): void {
    running = running.filter((other) => other !== job);
    count(job, -1);
    const { render, queue, availableAt, claimedAt, endedAt } = job;
    const { customer, atSeconds: createdAt } = render.arrival;
    jobs.push({ queue, customer, createdAt, availableAt, claimedAt, endedAt });
    if (queue === MEDIA_QUEUE) {
      if (--render.ingestsLeft === 0) mediaReady(render);
    } else if (--render.enginesLeft === 0) renders.push({ createdAt, readyAt: render.readyAt, endedAt });
    // Its customer may now run a job in another pool.
    for (const each of pools) startJobs(each);
  }

  for (let arrived = 0; ;) {
    const next = arrivals[arrived];
    const first = running.reduce<RunningJob | undefined>(
      (earliest, job) => (earliest === undefined || job.endedAt < earliest.endedAt ? job : earliest),
      undefined,
    );
    if (next !== undefined && next.atSeconds <= (first?.endedAt ?? Infinity)) {
      now = next.atSeconds;
      arrived++;
      arrive(next);
    } else if (first !== undefined) {
      now = first.endedAt;
      end(first);
    } else return { jobs, renders };
  }
}
