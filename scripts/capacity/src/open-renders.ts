import { MEDIA_QUEUE, type RenderArrival } from './simulation-input';
import { type RenderTrace } from './simulation-result';
import { type SimulatedJob } from './work-queue';

interface OpenRender {
  readonly arrival: RenderArrival;
  readonly index: number;
  ingestsLeft: number;
  jobsLeft: number;
  readyAt: number;
  startedAt: number;
}

/** The life of every render: its ingests, then a job for each engine, ending with the last of them. */
export class OpenRenders {
  readonly ended: RenderTrace[] = [];
  private readonly open = new Map<number, OpenRender>();
  private jobNumber = 0;

  constructor(
    private readonly now: () => number,
    private readonly enqueue: (job: SimulatedJob) => void,
  ) {}

  create(arrival: RenderArrival, index: number): void {
    const render: OpenRender = {
      ...{ arrival, index, readyAt: NaN, startedAt: Infinity },
      ingestsLeft: arrival.ingestSeconds.length,
      jobsLeft: arrival.jobs.length,
    };
    this.open.set(index, render);
    for (const seconds of arrival.ingestSeconds) this.enqueue(this.newJob(render, MEDIA_QUEUE, seconds));
    if (render.ingestsLeft === 0) this.mediaReady(render);
  }

  /** Called when a job of a render has ended. */
  advance(job: SimulatedJob, claimedAt: number): void {
    const render = this.open.get(job.render);
    if (render === undefined) return;
    if (job.queue === MEDIA_QUEUE) {
      render.ingestsLeft -= 1;
      if (render.ingestsLeft === 0) this.mediaReady(render);
      return;
    }
    render.startedAt = Math.min(render.startedAt, claimedAt);
    render.jobsLeft -= 1;
    if (render.jobsLeft === 0) this.end(render);
  }

  private mediaReady(render: OpenRender): void {
    render.readyAt = this.now();
    for (const { queue, serviceSeconds } of render.arrival.jobs)
      this.enqueue(this.newJob(render, queue, serviceSeconds));
  }

  private end({ arrival, index, readyAt, startedAt }: OpenRender): void {
    const { customer, atSeconds: createdAt } = arrival;
    this.ended.push({ render: index, customer, createdAt, readyAt, startedAt, endedAt: this.now() });
    this.open.delete(index);
  }

  private newJob({ arrival, index }: OpenRender, queue: string, serviceSeconds: number): SimulatedJob {
    this.jobNumber += 1;
    return {
      id: String(this.jobNumber).padStart(9, '0'),
      ...{ render: index, queue, serviceSeconds, customer: arrival.customer },
      createdAt: arrival.atSeconds,
      availableAt: this.now(),
    };
  }
}
