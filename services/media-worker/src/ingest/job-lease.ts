import { type JobStage } from '@lipsync/db';
import { type Clock } from '@lipsync/runtime';

/** The job was finished or taken over, or its lease ran out while the database could not be asked. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface JobProgress {
  readonly stage: JobStage;
  readonly progressPercent: number;
}

/** Keeps a claimed job ours while it is worked on, and carries its progress. */
export interface JobLease {
  /** Aborted with LeaseLost. */
  readonly signal: AbortSignal;
  readonly report: (progress: JobProgress) => void;
  /** No heartbeat is sent, or still under way, once this has resolved. */
  stop(): Promise<void>;
}

export interface JobLeaseOptions {
  /** Extends the lease and publishes progress; false when the job is not ours any more. */
  readonly heartbeat: (progress: JobProgress | undefined) => Promise<boolean>;
  readonly leaseMs: number;
  readonly clock: Clock;
}

const TICK_MS = 1_000;
const HEARTBEAT_MS = 3_000;

/** Beats every three seconds, and once a second while there is progress to tell. */
export function holdJobLease({ heartbeat, leaseMs, clock }: JobLeaseOptions): JobLease {
  const lost = new AbortController();
  let progress: JobProgress | undefined;
  let told: JobProgress | undefined;
  let renewedAt = clock.now();
  let beating: Promise<void> | undefined;

  async function beat(): Promise<void> {
    const carried = progress;
    // The database counts from when it was asked; counting from before errs on the safe side.
    const askedAt = clock.now();
    try {
      if (!(await heartbeat(carried))) return lost.abort(new LeaseLost('the job is not ours any more'));
      renewedAt = askedAt;
      told = carried;
    } catch {
      // The database is away: the work goes on for as long as the lease must still be ours.
      if (clock.now() - renewedAt >= leaseMs) lost.abort(new LeaseLost('the lease ran out unrenewed'));
    }
  }

  const timer = setInterval(() => {
    const due = progress !== told || clock.now() - renewedAt >= HEARTBEAT_MS;
    if (!due || beating !== undefined || lost.signal.aborted) return;
    beating = beat().finally(() => (beating = undefined));
  }, TICK_MS);

  return {
    signal: lost.signal,
    report: (next) => {
      progress = next;
    },
    stop: async () => {
      clearInterval(timer);
      await beating;
    },
  };
}
