import { createAutoscaler } from './autoscaler';
import { createEventQueue } from './event-queue';
import { MEDIA_QUEUE, type RenderArrival, type SimulationInput } from './simulation-input';
import { type JobTrace, type RenderTrace, type SimulationResult } from './simulation-result';
import { Counts, type SimulatedJob, WorkQueue } from './work-queue';
import { WorkerPool } from './worker-pool';

interface OpenRender {
  readonly arrival: RenderArrival;
  readonly index: number;
  ingestsLeft: number;
  jobsLeft: number;
  readyAt: number;
  startedAt: number;
}

/**
 * Lets renders go through the service as it works: ingests before renders, admission of one and a half jobs per live
 * slot in turns over customers, slots that take from their queues in turn, autoscalers with their delays.
 */
export function simulate({ arrivals, pools: poolSettings, policy }: SimulationInput): SimulationResult {
  const events = createEventQueue();
  const gpu = new Counts();
  const running = new Counts();
  const queues = new Map<string, WorkQueue>();
  const customers = new Set(arrivals.map(({ customer }) => customer)).size;
  for (const name of poolSettings.flatMap((pool) => pool.queues))
    queues.set(name, new WorkQueue(name, gpu, running, policy.runningJobsMax, customers));
  const open = new Map<number, OpenRender>();
  const jobs: JobTrace[] = [];
  const renders: RenderTrace[] = [];
  let toCome = arrivals.length;
  let roundPlanned = false;
  let jobNumber = 0;

  const pools = poolSettings.map(
    (settings) =>
      new WorkerPool(
        settings,
        settings.queues.map((name) => queueNamed(name)),
        events,
        policy.pickupSeconds,
        {
          onLive: () => ring(settings.queues),
          onEnd: ended,
          onHandedOver: (job) => {
            queueNamed(job.queue).release(job);
            enqueue({ ...job, availableAt: events.now() });
            planRound();
          },
        },
      ),
  );

  function queueNamed(name: string): WorkQueue {
    const queue = queues.get(name);
    if (queue === undefined) throw new Error(`no pool serves the queue ${name}`);
    return queue;
  }

  /** What happens in a queue lets its next jobs in at once; the rest waits for the next round. */
  function ring(names: readonly string[]): void {
    for (const name of names) admit(queueNamed(name));
    for (const pool of pools) pool.takeJobs();
  }

  function admit(queue: WorkQueue): void {
    const serving = pools.filter((pool) => pool.settings.queues.includes(queue.name));
    queue.admit(serving.reduce((slots, pool) => slots + pool.liveSlots, 0));
  }

  /** A job that has ended may let its customer's jobs into other queues: the next round finds them. */
  function planRound(): void {
    if (roundPlanned || ![...queues.values()].some((queue) => queue.unadmitted)) return;
    roundPlanned = true;
    const every = policy.admissionEverySeconds;
    events.at((Math.floor(events.now() / every) + 1) * every, () => {
      roundPlanned = false;
      ring([...queues.keys()]);
    });
  }

  function enqueue(job: SimulatedJob): void {
    queueNamed(job.queue).enqueue(job, events.now());
    ring([job.queue]);
  }

  function newJob(render: OpenRender, queue: string, serviceSeconds: number): SimulatedJob {
    const { arrival, index } = render;
    jobNumber += 1;
    return {
      id: String(jobNumber).padStart(9, '0'),
      ...{ render: index, queue, serviceSeconds, customer: arrival.customer },
      createdAt: arrival.atSeconds,
      availableAt: events.now(),
    };
  }

  function create(arrival: RenderArrival, index: number): void {
    toCome -= 1;
    const render: OpenRender = {
      ...{ arrival, index, readyAt: NaN, startedAt: Infinity },
      ingestsLeft: arrival.ingestSeconds.length,
      jobsLeft: arrival.jobs.length,
    };
    open.set(index, render);
    for (const seconds of arrival.ingestSeconds) enqueue(newJob(render, MEDIA_QUEUE, seconds));
    if (render.ingestsLeft === 0) mediaReady(render);
  }

  function mediaReady(render: OpenRender): void {
    render.readyAt = events.now();
    for (const { queue, serviceSeconds } of render.arrival.jobs)
      enqueue(newJob(render, queue, serviceSeconds));
  }

  function ended(job: SimulatedJob, claimedAt: number): void {
    const { queue, customer, availableAt, render: index } = job;
    jobs.push({ render: index, queue, customer, availableAt, claimedAt, endedAt: events.now() });
    queueNamed(queue).release(job);
    const render = open.get(index);
    if (render) advance(render, job, claimedAt);
    ring([queue]);
    planRound();
  }

  function advance(render: OpenRender, job: SimulatedJob, claimedAt: number): void {
    if (job.queue === MEDIA_QUEUE) {
      render.ingestsLeft -= 1;
      if (render.ingestsLeft === 0) mediaReady(render);
      return;
    }
    render.startedAt = Math.min(render.startedAt, claimedAt);
    render.jobsLeft -= 1;
    if (render.jobsLeft > 0) return;
    const { arrival, index, readyAt, startedAt } = render;
    const { customer, atSeconds: createdAt } = arrival;
    renders.push({ render: index, customer, createdAt, readyAt, startedAt, endedAt: events.now() });
    open.delete(index);
  }

  function scale(pool: WorkerPool): void {
    const { pods } = pool.settings;
    if (typeof pods === 'number') {
      pool.resize(pods, { startSeconds: 0, graceSeconds: 0 });
      return;
    }
    const autoscaler = createAutoscaler(pods, pool.settings.slotsPerPod);
    pool.resize(pods.minPods, { startSeconds: 0, graceSeconds: 0 });
    const decide = (): void => {
      const now = events.now();
      const backlogs = pool.queues.map((queue) => queue.backlog(now, pool.liveSince));
      const sum = (of: 'waiting' | 'startable' | 'running'): number =>
        backlogs.reduce((total, each) => total + each[of], 0);
      const oldestSeconds = Math.max(...backlogs.map((each) => each.oldestSeconds));
      const wanted = autoscaler.decide(now, pool.ordered, {
        ...{ waiting: sum('waiting'), startable: sum('startable'), running: sum('running') },
        oldestSeconds,
      });
      pool.resize(wanted, pods);
      if (toCome > 0 || open.size > 0) events.at(now + pods.pollSeconds, decide);
    };
    events.at(0, decide);
  }

  for (const pool of pools) scale(pool);
  arrivals.forEach((arrival, index) => events.at(arrival.atSeconds, () => create(arrival, index)));
  events.run();
  if (open.size > 0) throw new Error(`${open.size} renders wait for a queue that nobody serves`);
  const endedAt = renders.reduce((latest, render) => Math.max(latest, render.endedAt), 0);
  return {
    ...{ jobs, renders, endedAt },
    pools: new Map(pools.map((pool) => [pool.settings.name, pool.report()])),
    meanWaiting: new Map([...queues].map(([name, queue]) => [name, queue.meanWaiting(endedAt)])),
  };
}
