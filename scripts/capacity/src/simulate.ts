import { createEventQueue } from './event-queue';
import { OpenRenders } from './open-renders';
import { scalePool } from './scale-pool';
import { type SimulationInput } from './simulation-input';
import { type JobTrace, type SimulationResult } from './simulation-result';
import { Counts, type SimulatedJob, WorkQueue } from './work-queue';
import { WorkerPool } from './worker-pool';

/**
 * Simulates renders passing through the service: ingests before renders, admission of one and a half jobs per live slot
 * in turns over customers, slots that take from their queues in turn, autoscalers with their delays.
 */
export function simulate({ arrivals, pools: poolSettings, policy }: SimulationInput): SimulationResult {
  const events = createEventQueue();
  const gpu = new Counts();
  const running = new Counts();
  const customers = new Set(arrivals.map(({ customer }) => customer)).size;
  const queues = new Map(
    poolSettings
      .flatMap((pool) => pool.queues)
      .map((name) => [name, new WorkQueue(name, gpu, running, policy.runningJobsMax, customers)]),
  );
  const pools = poolSettings.map(
    (settings) =>
      new WorkerPool(settings, settings.queues.map(queueNamed), events, policy.pickupSeconds, {
        onLive: () => ring(settings.queues),
        onEnd: ended,
        onHandedOver: handedOver,
      }),
  );
  const renders = new OpenRenders(events.now, enqueue);
  const jobs: JobTrace[] = [];
  let roundPlanned = false;

  function queueNamed(name: string): WorkQueue {
    const queue = queues.get(name);
    if (queue === undefined) throw new Error(`no pool serves the queue ${name}`);
    return queue;
  }

  function enqueue(job: SimulatedJob): void {
    queueNamed(job.queue).enqueue(job, events.now());
    ring([job.queue]);
  }

  /** A change in a queue admits its next jobs at once; everything else waits for the next round. */
  function ring(names: readonly string[]): void {
    for (const name of names) admit(queueNamed(name));
    for (const pool of pools) pool.takeJobs();
  }

  function admit(queue: WorkQueue): void {
    const serving = pools.filter((pool) => pool.settings.queues.includes(queue.name));
    queue.admit(serving.reduce((slots, pool) => slots + pool.liveSlots, 0));
  }

  /** A finished job may make room for its customer's jobs in other queues; the next round finds them. */
  function planRound(): void {
    if (roundPlanned || ![...queues.values()].some((queue) => queue.unadmitted)) return;
    roundPlanned = true;
    const every = policy.admissionEverySeconds;
    events.at((Math.floor(events.now() / every) + 1) * every, () => {
      roundPlanned = false;
      ring([...queues.keys()]);
    });
  }

  function ended(job: SimulatedJob, claimedAt: number): void {
    const { queue, customer, availableAt, render } = job;
    jobs.push({ render, queue, customer, availableAt, claimedAt, endedAt: events.now() });
    queueNamed(queue).release(job);
    renders.advance(job, claimedAt);
    ring([queue]);
    planRound();
  }

  function handedOver(job: SimulatedJob): void {
    queueNamed(job.queue).release(job);
    enqueue({ ...job, availableAt: events.now() });
    planRound();
  }

  const unfinished = (): number => arrivals.length - renders.ended.length;
  for (const pool of pools) scalePool(pool, events, () => unfinished() === 0);
  arrivals.forEach((arrival, index) => events.at(arrival.atSeconds, () => renders.create(arrival, index)));
  events.run();
  if (unfinished() > 0) throw new Error(`${unfinished()} renders wait for a queue that nobody serves`);
  const endedAt = renders.ended.reduce((latest, render) => Math.max(latest, render.endedAt), 0);
  return {
    ...{ jobs, renders: renders.ended, endedAt },
    pools: new Map(pools.map((pool) => [pool.settings.name, pool.report()])),
    meanWaiting: new Map([...queues].map(([name, queue]) => [name, queue.meanWaiting(endedAt)])),
  };
}
