import { type EventQueue } from './event-queue';
import { type PoolSettings } from './simulation-input';
import { type PoolUse } from './simulation-result';
import { type SimulatedJob, type WorkQueue } from './work-queue';

interface RunningJob {
  readonly job: SimulatedJob;
  readonly claimedAt: number;
  readonly endsAt: number;
  /** Set when the job was handed over, which makes its scheduled end void. */
  void: boolean;
}

interface Pod {
  readonly queues: WorkQueue[];
  readonly running: Set<RunningJob>;
  readonly orderedAt: number;
  state: 'starting' | 'live' | 'leaving';
}

export interface PoolEvents {
  onLive: () => void;
  onEnd: (job: SimulatedJob, claimedAt: number) => void;
  onHandedOver: (job: SimulatedJob) => void;
}

/** The pods of one kind: they start, take jobs from their queues in turn, and leave. */
export class WorkerPool {
  private readonly pods: Pod[] = [];
  private readonly use = { podSeconds: 0, liveSlotSeconds: 0, busySlotSeconds: 0, podsMax: 0, handedOver: 0 };
  private countedAt = 0;
  private servedSince = 0;

  constructor(
    readonly settings: PoolSettings,
    readonly queues: readonly WorkQueue[],
    private readonly events: EventQueue,
    private readonly pickupSeconds: number,
    private readonly on: PoolEvents,
  ) {}

  /** Number of pods that were ordered and not told to leave. */
  get ordered(): number {
    return this.pods.filter(({ state }) => state !== 'leaving').length;
  }

  get liveSlots(): number {
    return this.pods.filter(({ state }) => state === 'live').length * this.settings.slotsPerPod;
  }

  /** Since when the pool has had a pod without interruption; now, while it has none. */
  get liveSince(): number {
    return this.liveSlots > 0 ? this.servedSince : this.events.now();
  }

  resize(pods: number, { startSeconds, graceSeconds }: { startSeconds: number; graceSeconds: number }): void {
    this.account();
    for (let ordered = this.ordered; ordered < pods; ordered++) this.order(startSeconds);
    // Kubernetes removes the newest pod first.
    for (const pod of [...this.pods].reverse())
      if (this.ordered > pods && pod.state !== 'leaving') this.dismiss(pod, graceSeconds);
  }

  /** Idle slots take announced jobs. */
  takeJobs(): void {
    this.account();
    for (const pod of this.pods) {
      while (pod.state === 'live' && pod.running.size < this.settings.slotsPerPod) {
        const job = this.takeOne(pod);
        if (job === undefined) break;
        this.start(pod, job);
      }
    }
  }

  report(): PoolUse {
    this.account();
    return { ...this.use };
  }

  private order(startSeconds: number): void {
    const pod: Pod = {
      queues: [...this.queues],
      running: new Set(),
      orderedAt: this.events.now(),
      state: 'starting',
    };
    this.pods.push(pod);
    this.use.podsMax = Math.max(this.use.podsMax, this.pods.length);
    const goLive = (): void => {
      if (pod.state !== 'starting') return;
      this.account();
      if (this.liveSlots === 0) this.servedSince = this.events.now();
      pod.state = 'live';
      this.on.onLive();
    };
    if (startSeconds === 0) goLive();
    else this.events.at(this.events.now() + startSeconds, goLive);
  }

  private dismiss(pod: Pod, graceSeconds: number): void {
    pod.state = 'leaving';
    const leavesAt = this.events.now() + graceSeconds;
    for (const running of pod.running) {
      if (running.endsAt <= leavesAt) continue;
      running.void = true;
      this.events.at(leavesAt, () => {
        this.account();
        pod.running.delete(running);
        this.use.handedOver += 1;
        this.removeIfDone(pod);
        this.on.onHandedOver(running.job);
      });
    }
    this.removeIfDone(pod);
  }

  private removeIfDone(pod: Pod): void {
    if (pod.state === 'leaving' && pod.running.size === 0) this.pods.splice(this.pods.indexOf(pod), 1);
  }

  private takeOne(pod: Pod): SimulatedJob | undefined {
    for (const queue of pod.queues) {
      const job = queue.take(this.events.now());
      if (job === undefined) continue;
      pod.queues.push(...pod.queues.splice(pod.queues.indexOf(queue), 1));
      return job;
    }
    return undefined;
  }

  private start(pod: Pod, job: SimulatedJob): void {
    const claimedAt = this.events.now() + this.pickupSeconds;
    const running: RunningJob = { job, claimedAt, endsAt: claimedAt + job.serviceSeconds, void: false };
    pod.running.add(running);
    this.events.at(running.endsAt, () => {
      if (running.void) return;
      this.account();
      pod.running.delete(running);
      this.removeIfDone(pod);
      this.on.onEnd(job, claimedAt);
    });
  }

  private account(): void {
    const now = this.events.now();
    const seconds = now - this.countedAt;
    this.countedAt = now;
    this.use.podSeconds += seconds * this.pods.length;
    this.use.liveSlotSeconds += seconds * this.liveSlots;
    for (const pod of this.pods) this.use.busySlotSeconds += seconds * pod.running.size;
  }
}
