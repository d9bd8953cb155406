import { claimJob, failJob, heartbeatJob, releaseJob, retryJob, type Claim } from '@lipsync/db';
import { retryDelaySeconds } from '@lipsync/domain';
import { systemClock, type Logger } from '@lipsync/runtime';
import { type InferenceHost } from '../host/inference-host';
import { InferenceCrash } from '../host/inference-error';
import { runAnalyze } from './analyze-job';
import { type JobFacts, type JobTools } from './job-context';
import { JobTimeout, Preempted } from './job-errors';
import { type JobFolders } from './job-folder';
import { createLeaseKeeper, type LeaseKeeper } from './lease-keeper';
import { runRender } from './render-job';
import { type SlotPool } from './slot-pool';
import { verdict, type Verdict } from './verdict';

export interface JobRunner {
  /**
   * Waits for a slot, claims the job and carries it to an end that the database knows. Resolves without doing anything
   * when the job is not to be had. Never rejects for reasons of the job itself.
   */
  run(jobId: string, signals: ShutdownSignals): Promise<void>;
  /** A hint that this job was cancelled; the database is asked at once. */
  checkCancelled(jobId: string): void;
}

export interface ShutdownSignals {
  /** Nothing new is begun any more. */
  readonly stopping: AbortSignal;
  /** A running job is handed back now and its child ended. */
  readonly preempted: AbortSignal;
}

export interface JobRunnerOptions extends JobTools {
  readonly slots: SlotPool<InferenceHost>;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Wall-clock limit of one job, milliseconds. */
  readonly limitMs: number;
  readonly logger: Logger;
}

const LEASE_SECONDS = 15;
const TICK_MS = 250;

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { db, slots, folders, workerId, limitMs, logger } = options;
  const running = new Map<string, LeaseKeeper>();

  async function runClaimed(claim: Claim, host: InferenceHost, preempted: AbortSignal): Promise<void> {
    const keeper = createLeaseKeeper({
      heartbeat: (progress) =>
        heartbeatJob(db, claim, {
          leaseSeconds: LEASE_SECONDS,
          ...(progress ? { stage: progress.stage, progressPercent: progress.percent } : {}),
        }),
      leaseMs: LEASE_SECONDS * 1000,
      clock: systemClock,
    });
    const stop = new AbortController();
    keeper.signal.addEventListener('abort', () => stop.abort(keeper.signal.reason), { once: true });
    const preempt = (): void => {
      stop.abort(new Preempted('the process is going away'));
      // No time is left for a polite cancel, and the next worker starts from the beginning anyway.
      host.kill();
    };
    preempted.addEventListener('abort', preempt, { once: true });
    const ticker = setInterval(keeper.tick, TICK_MS);
    const limit = setTimeout(
      () => stop.abort(new JobTimeout('the time limit of the job has passed')),
      limitMs,
    );
    const started = performance.now();
    running.set(claim.jobId, keeper);
    let end: Verdict | { readonly kind: 'complete' };
    let facts: JobFacts;
    try {
      const perform = claim.kind === 'render' ? runRender : runAnalyze;
      const { signal } = stop;
      facts = await folders.using(claim.jobId, (folder) =>
        perform(options, { claim, host, folder, signal, report: keeper.report }),
      );
      end = { kind: 'complete' };
    } catch (error) {
      end = verdict(error, stop.signal.reason);
      facts = failureFacts(error);
    } finally {
      clearTimeout(limit);
      clearInterval(ticker);
      running.delete(claim.jobId);
      preempted.removeEventListener('abort', preempt);
      await keeper.stop();
    }
    if (end.kind !== 'complete') facts = { ...facts, outcome: await settle(claim, end) };
    logger.wide('job', {
      job_id: claim.jobId,
      kind: claim.kind,
      queue: claim.queue,
      attempt: claim.attempt,
      fence: claim.fence,
      end: end.kind,
      ...('code' in end ? { code: end.code } : {}),
      duration_ms: Math.round(performance.now() - started),
      ...facts,
    });
  }

  /** Tells the database; if it cannot be told, the lease runs out and the reconciler takes the job up. */
  async function settle(claim: Claim, end: Verdict): Promise<string> {
    try {
      switch (end.kind) {
        case 'drop':
          return 'dropped';
        case 'release':
          return (await releaseJob(db, claim)) ? 'released' : 'lost';
        case 'retry': {
          const delaySeconds = retryDelaySeconds(claim.attempt, Math.random());
          return await retryJob(db, claim, { errorCode: end.code, delaySeconds });
        }
        case 'fail':
          return (await failJob(db, claim, end.code)) ? 'failed' : 'lost';
      }
    } catch (error) {
      logger.error('the end of a job could not be recorded', { job_id: claim.jobId, error });
      return 'unrecorded';
    }
  }

  return {
    run: async (jobId, { stopping, preempted }) => {
      const host = await slots.borrow(stopping).catch(() => undefined);
      if (!host) return;
      try {
        const claim = await claimJob(db, jobId, { workerId, leaseSeconds: LEASE_SECONDS });
        if (claim) await runClaimed(claim, host, preempted);
      } finally {
        slots.giveBack(host);
      }
    },
    checkCancelled: (jobId) => running.get(jobId)?.checkNow(),
  };
}

function failureFacts(error: unknown): JobFacts {
  const stderr = error instanceof InferenceCrash && error.stderr !== '' ? { stderr: error.stderr } : {};
  return { error, ...stderr };
}
