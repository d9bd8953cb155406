import { type ErrorCode } from '@lipsync/contract';
import { type Claim, type Db, heartbeatJob, type JobStage } from '@lipsync/db';
import { JobTimeout, Preempted } from './job-stop';
import { createLeaseKeeper } from './lease-keeper';

/** How long a job may take, and the code it fails with if it takes longer. */
export interface JobLimit {
  readonly ms: number;
  readonly code: ErrorCode;
}

/** The claim of a job, held while the job is worked on. */
export interface HeldClaim {
  /** Aborted when the work must stop, with LeaseLost, Preempted or JobTimeout. */
  readonly signal: AbortSignal;
  readonly report: (stage: JobStage, percent: number) => void;
  /** Checks with the database at once whether the claim still holds. */
  checkNow(): void;
  /** Stops the heartbeats. Once this has resolved, none is under way and the signal does not change any more. */
  letGo(): Promise<void>;
}

const TICK_MS = 250;

export function holdClaim(options: {
  db: Db;
  claim: Claim;
  leaseSeconds: number;
  limit: JobLimit | undefined;
  preempted: AbortSignal;
}): HeldClaim {
  const { db, claim, leaseSeconds, limit, preempted } = options;
  const keeper = createLeaseKeeper({
    heartbeat: (progress) =>
      heartbeatJob(db, claim, {
        leaseSeconds,
        ...(progress ? { stage: progress.stage, progressPercent: progress.percent } : {}),
      }),
    leaseMs: leaseSeconds * 1000,
    clock: performance,
  });
  const stop = new AbortController();
  keeper.signal.addEventListener('abort', () => stop.abort(keeper.signal.reason), { once: true });
  const preempt = (): void => stop.abort(new Preempted('the process is going away'));
  if (preempted.aborted) preempt();
  else preempted.addEventListener('abort', preempt, { once: true });
  const ticker = setInterval(keeper.tick, TICK_MS);
  const timer = limit && setTimeout(() => stop.abort(new JobTimeout(limit.code)), limit.ms);

  return {
    signal: stop.signal,
    report: keeper.report,
    checkNow: keeper.checkNow,
    letGo: async () => {
      clearTimeout(timer);
      clearInterval(ticker);
      preempted.removeEventListener('abort', preempt);
      await keeper.stop();
    },
  };
}
