import { chooseAdmissions, READY_PER_SLOT, type WaitingJob } from './admission-policy';
import { MEDIA_QUEUE } from './simulation-input';

export interface SimulatedJob extends WaitingJob {
  readonly render: number;
  readonly queue: string;
  readonly serviceSeconds: number;
  availableAt: number;
}

/** Counts by customer. */
export class Counts {
  private readonly counts = new Map<string, number>();
  readonly of = (customer: string): number => this.counts.get(customer) ?? 0;
  add(customer: string, by: number): void {
    const count = this.of(customer) + by;
    if (count === 0) this.counts.delete(customer);
    else this.counts.set(customer, count);
  }
}

/**
 * One queue: its backlog by customer (in Postgres), what was announced (in Redis, first in first out), and who has
 * how many jobs under way in it.
 */
export class WorkQueue {
  private readonly waiting = new Map<string, SimulatedJob[]>();
  private readonly ready: SimulatedJob[] = [];
  private readonly here = new Counts();
  private inFlight = 0;
  private waitingCount = 0;
  private integral = 0;
  private changedAt = 0;

  /** @param gpu jobs under way of a customer over all queues, which its share limits */
  constructor(
    readonly name: string,
    private readonly gpu: Counts,
    private readonly runningJobsMax: number,
  ) {}

  enqueue(job: SimulatedJob, now: number): void {
    this.count(now, 1);
    const line = this.waiting.get(job.customer) ?? [];
    // A job that was handed over is older than those behind it.
    const behind = line.findIndex((other) => job.createdAt < other.createdAt);
    line.splice(behind < 0 ? line.length : behind, 0, job);
    this.waiting.set(job.customer, line);
  }

  /** Announces what `liveSlots` can soon take. */
  admit(liveSlots: number): void {
    const free = Math.ceil(liveSlots * READY_PER_SLOT) - this.inFlight;
    if (free <= 0 || this.waiting.size === 0) return;
    const chosen = chooseAdmissions({
      waiting: this.waiting,
      free,
      here: this.here.of,
      gpu: this.gpu.of,
      cap: () => (this.name === MEDIA_QUEUE ? Infinity : this.runningJobsMax),
    });
    for (const job of chosen) {
      const line = this.waiting.get(job.customer) ?? [];
      line.splice(line.indexOf(job), 1);
      if (line.length === 0) this.waiting.delete(job.customer);
      this.underWay(job, 1);
      this.ready.push(job);
    }
  }

  /** The announcement that has waited longest. */
  take(now: number): SimulatedJob | undefined {
    const job = this.ready.shift();
    if (job) this.count(now, -1);
    return job;
  }

  /** A claimed job is no longer under way: it has ended, or goes back in line. */
  release(job: SimulatedJob): void {
    this.underWay(job, -1);
  }

  /** Jobs that wait, announced or not. */
  get backlog(): number {
    return this.waitingCount;
  }

  /** Jobs that wait or run. */
  get present(): number {
    return this.waitingCount + this.inFlight - this.ready.length;
  }

  /** Jobs that nobody has announced yet. */
  get unadmitted(): boolean {
    return this.waiting.size > 0;
  }

  meanWaiting(until: number): number {
    this.count(until, 0);
    return until === 0 ? 0 : this.integral / until;
  }

  private underWay(job: SimulatedJob, by: number): void {
    this.inFlight += by;
    this.here.add(job.customer, by);
    if (this.name !== MEDIA_QUEUE) this.gpu.add(job.customer, by);
  }

  private count(now: number, by: number): void {
    this.integral += this.waitingCount * (now - this.changedAt);
    this.changedAt = now;
    this.waitingCount += by;
  }
}
