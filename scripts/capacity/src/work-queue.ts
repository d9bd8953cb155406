import { admissionCapacity, ingestCap } from '@lipsync/domain';
import { chooseAdmissions, type WaitingJob } from './admission-policy';
import { type Backlog } from './autoscaler';
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
  readonly entries = (): Iterable<[string, number]> => this.counts.entries();
  add(customer: string, by: number): void {
    const count = this.of(customer) + by;
    if (count === 0) this.counts.delete(customer);
    else this.counts.set(customer, count);
  }
}

/**
 * One queue: its backlog by customer (in Postgres), its announced jobs (in Redis, first in first out), and the number
 * of jobs in progress per customer.
 */
export class WorkQueue {
  private readonly waiting = new Map<string, SimulatedJob[]>();
  private readonly ready: SimulatedJob[] = [];
  private readonly here = new Counts();
  /** Waiting jobs by customer, whether announced or not. */
  private readonly unclaimed = new Counts();
  private inFlight = 0;
  private waitingCount = 0;
  private integral = 0;
  private changedAt = 0;

  /**
   * @param gpu a customer's jobs in progress over all GPU queues, which its cap limits
   * @param running the ones among them that are running
   * @param customers all customers
   */
  constructor(
    readonly name: string,
    private readonly gpu: Counts,
    private readonly running: Counts,
    private readonly runningJobsMax: number,
    private readonly customers: number,
  ) {}

  enqueue(job: SimulatedJob, now: number): void {
    this.count(now, 1);
    this.unclaimed.add(job.customer, 1);
    const line = this.waiting.get(job.customer) ?? [];
    // Nearly always the youngest; a job that was handed over is older than those behind it.
    line.splice(line.findLastIndex((other) => other.createdAt <= job.createdAt) + 1, 0, job);
    this.waiting.set(job.customer, line);
  }

  /** Announces the jobs that `liveSlots` slots can soon take. */
  admit(liveSlots: number): void {
    const free = admissionCapacity(liveSlots) - this.inFlight;
    if (free <= 0 || this.waiting.size === 0) return;
    const chosen = chooseAdmissions({
      waiting: this.waiting,
      free,
      here: this.here.of,
      counted: this.isGpu ? this.gpu.of : this.here.of,
      cap: this.isGpu ? this.runningJobsMax : this.ingestsMax(liveSlots),
    });
    for (const job of chosen) {
      // The oldest jobs of each customer are chosen.
      const line = this.waiting.get(job.customer);
      line?.shift();
      if (line?.length === 0) this.waiting.delete(job.customer);
      this.underWay(job, 1);
      this.ready.push(job);
    }
  }

  /** Takes the oldest announcement. */
  take(now: number): SimulatedJob | undefined {
    const job = this.ready.shift();
    if (job === undefined) return undefined;
    this.count(now, -1);
    this.unclaimed.add(job.customer, -1);
    if (this.isGpu) this.running.add(job.customer, 1);
    return job;
  }

  /** Ends a claimed job's time in progress: it has finished, or goes back into the queue. */
  release(job: SimulatedJob): void {
    if (this.isGpu) this.running.add(job.customer, -1);
    this.underWay(job, -1);
  }

  /** What a pool's autoscaler sees of this queue, which was served from `since` on. */
  backlog(now: number, since: number): Backlog {
    let startable = 0;
    for (const [customer, jobs] of this.unclaimed.entries())
      startable += Math.min(jobs, Math.max(0, this.runningJobsMax - this.running.of(customer)));
    const heads = [...this.waiting.values()].flatMap((line) => line.slice(0, 1));
    const oldest = [...heads, ...this.ready]
      .filter(({ customer }) => this.running.of(customer) < this.runningJobsMax)
      .reduce((earliest, { availableAt }) => Math.min(earliest, Math.max(availableAt, since)), now);
    const running = this.inFlight - this.ready.length;
    return { waiting: this.waitingCount, startable, running, oldestSeconds: now - oldest };
  }

  private get isGpu(): boolean {
    return this.name !== MEDIA_QUEUE;
  }

  /** The only customer keeps nobody waiting, so it may use the whole capacity. */
  private ingestsMax(liveSlots: number): number {
    return this.customers === 1 ? Infinity : ingestCap(liveSlots);
  }

  /** Whether some jobs are not announced yet. */
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
    if (this.isGpu) this.gpu.add(job.customer, by);
  }

  private count(now: number, by: number): void {
    this.integral += this.waitingCount * (now - this.changedAt);
    this.changedAt = now;
    this.waitingCount += by;
  }
}
