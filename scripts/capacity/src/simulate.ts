import { DEFAULT_CUSTOMER_LIMITS, ingestCap } from '@lipsync/domain';

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

export interface PolicySettings {
  /** Maximum running GPU jobs per customer. */
  readonly runningJobsMax: number;
  /** From when a job could start on an idle slot to its claim. */
  readonly pickupSeconds: number;
}

export const SERVICE_POLICY: PolicySettings = {
  runningJobsMax: DEFAULT_CUSTOMER_LIMITS.runningJobsMax,
  pickupSeconds: 0.01,
};

/** The times of one job, in simulated seconds. */
export interface JobTrace {
  /** Index of its arrival. */
  readonly render: number;
  readonly queue: string;
  readonly customer: string;
  readonly availableAt: number;
  readonly claimedAt: number;
  readonly endedAt: number;
}

interface RenderTrace {
  readonly render: number;
  readonly createdAt: number;
  /** When its media were ready. */
  readonly readyAt: number;
  readonly endedAt: number;
}

export interface SimulationResult {
  readonly jobs: readonly JobTrace[];
  readonly renders: readonly RenderTrace[];
}

interface Job {
  readonly render: number;
  readonly queue: string;
  readonly customer: string;
  readonly serviceSeconds: number;
  readonly availableAt: number;
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
  const { arrivals, policy } = input;
  const events = createEventQueue();
  const pools = input.pools.map(({ queues, slotsPerPod, pods }) => ({
    queues: [...queues],
    slots: slotsPerPod * pods,
    busy: 0,
    running: new Map<string, number>(),
    waiting: new Array<Job>(),
  }));
  type Pool = (typeof pools)[number];
  const gpuJobs = new Map<string, number>();
  // The only customer keeps nobody waiting, so it may use the whole capacity.
  const isAlone = new Set(arrivals.map(({ customer }) => customer)).size === 1;
  const jobs: JobTrace[] = [];
  const renders: RenderTrace[] = [];
  const left = arrivals.map(({ ingestSeconds, jobs: engines }) => ({
    ingests: ingestSeconds.length,
    engines: engines.length,
    readyAt: NaN,
  }));

  function enqueue(render: number, queue: string, serviceSeconds: number): void {
    const pool = pools.find(({ queues }) => queues.includes(queue));
    if (pool === undefined) throw new Error(`no pool serves the queue ${queue}`);
    const customer = arrivals[render]?.customer ?? '';
    pool.waiting.push({ render, queue, customer, serviceSeconds, availableAt: events.now() });
    startJobs(pool);
  }

  function startJobs(pool: Pool): void {
    while (pool.busy < pool.slots) {
      const next = nextJob(pool);
      if (next === undefined) return;
      const [job] = pool.waiting.splice(next, 1);
      if (job !== undefined) start(pool, job);
    }
  }

  /** Index of the waiting job to start: from the queues in turn, of the customer with the fewest running, the oldest. */
  function nextJob(pool: Pool): number | undefined {
    for (const queue of pool.queues) {
      const next = nextJobOf(queue, pool);
      if (next === undefined) continue;
      pool.queues = [...pool.queues.filter((other) => other !== queue), queue];
      return next;
    }
    return undefined;
  }

  function nextJobOf(wanted: string, { waiting, running, slots }: Pool): number | undefined {
    let next: number | undefined;
    let fewest = Infinity;
    for (const [index, { customer, queue }] of waiting.entries()) {
      const here = running.get(customer) ?? 0;
      if (queue !== wanted || here >= fewest) continue;
      const mayStart =
        queue === MEDIA_QUEUE
          ? isAlone || here < ingestCap(slots)
          : (gpuJobs.get(customer) ?? 0) < policy.runningJobsMax;
      if (!mayStart) continue;
      next = index;
      fewest = here;
    }
    return next;
  }

  function start(pool: Pool, job: Job): void {
    const { render, queue, customer, serviceSeconds, availableAt } = job;
    const count = (by: number): void => {
      pool.busy += by;
      add(pool.running, customer, by);
      if (queue !== MEDIA_QUEUE) add(gpuJobs, customer, by);
    };
    count(1);
    const claimedAt = events.now() + policy.pickupSeconds;
    events.at(claimedAt + serviceSeconds, () => {
      count(-1);
      jobs.push({ render, queue, customer, availableAt, claimedAt, endedAt: events.now() });
      ended(render, queue);
      // Its customer may now run a job in another pool.
      for (const each of pools) startJobs(each);
    });
  }

  function ended(render: number, queue: string): void {
    const rest = left[render];
    if (rest === undefined) return;
    if (queue === MEDIA_QUEUE) {
      if (--rest.ingests === 0) mediaReady(render);
    } else if (--rest.engines === 0) {
      const createdAt = arrivals[render]?.atSeconds ?? NaN;
      renders.push({ render, createdAt, readyAt: rest.readyAt, endedAt: events.now() });
    }
  }

  function mediaReady(render: number): void {
    const rest = left[render];
    if (rest !== undefined) rest.readyAt = events.now();
    for (const { queue, serviceSeconds } of arrivals[render]?.jobs ?? [])
      enqueue(render, queue, serviceSeconds);
  }

  arrivals.forEach(({ atSeconds, ingestSeconds }, render) =>
    events.at(atSeconds, () => {
      for (const seconds of ingestSeconds) enqueue(render, MEDIA_QUEUE, seconds);
      if (ingestSeconds.length === 0) mediaReady(render);
    }),
  );
  events.run();
  return { jobs, renders };
}

function add(counts: Map<string, number>, customer: string, by: number): void {
  counts.set(customer, (counts.get(customer) ?? 0) + by);
}

interface Planned {
  readonly seconds: number;
  readonly order: number;
  readonly action: () => void;
}

/** Future events in a binary heap with a clock; events at equal times keep the order in which they were scheduled. */
function createEventQueue() {
  const heap: Planned[] = [];
  let now = 0;
  let planned = 0;

  function push(event: Planned): void {
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      swap(at, parent);
      at = parent;
    }
  }

  function pop(): Planned | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    let at = 0;
    for (;;) {
      let smallest = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const candidate = heap[child];
        if (candidate !== undefined && isBefore(candidate, heap[smallest])) smallest = child;
      }
      if (smallest === at) return first;
      swap(at, smallest);
      at = smallest;
    }
  }

  function swap(a: number, b: number): void {
    const [left, right] = [heap[a], heap[b]];
    if (left === undefined || right === undefined) return;
    heap[a] = right;
    heap[b] = left;
  }

  return {
    /** Simulated time in seconds. */
    now: () => now,
    at: (seconds: number, action: () => void): void =>
      push({ seconds: Math.max(seconds, now), order: planned++, action }),
    /** Runs all events until none are left. */
    run: (): void => {
      for (let event = pop(); event !== undefined; event = pop()) {
        now = event.seconds;
        event.action();
      }
    },
  };
}

function isBefore(a: Planned, b: Planned | undefined): boolean {
  return b === undefined || a.seconds < b.seconds || (a.seconds === b.seconds && a.order < b.order);
}
