import { type Logger } from '@lipsync/runtime';
import { createJobRunner as createClaimRunner, type JobFolders } from '@lipsync/worker';
import { type InferenceHost } from '../host/inference-host';
import { runAnalyze } from './analyze-job';
import { blame } from './blame';
import { type JobTools } from './job-context';
import { runRender } from './render-job';
import { type SlotPool } from './slot-pool';

export interface JobRunner {
  /**
   * Waits for a slot, claims the job and carries it to an end that the database knows. Resolves without doing anything
   * when the job is not to be had, or when no slot became free in time: then its announcement is gone and the
   * reconciler makes another one, which a worker with a free slot may hear. Never rejects for reasons of the job itself.
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
  /** How long a job may wait here for a slot; fifteen seconds unless told. */
  readonly slotWaitMs?: number;
  readonly logger: Logger;
}

/**
 * A process hears of jobs in several queues and may be busy with a long render of another one. Kept any longer,
 * a job would wait here for an hour while other workers have nothing to do.
 */
const SLOT_WAIT_MS = 15_000;

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { db, slots, folders, workerId, limitMs, logger, slotWaitMs = SLOT_WAIT_MS } = options;
  const limit = { ms: limitMs, code: 'engine_timeout' } as const;
  const claims = createClaimRunner({ db, folders, workerId, blame, limit, logger });

  return {
    run: async (jobId, { stopping, preempted }) => {
      const tooLate = AbortSignal.any([stopping, AbortSignal.timeout(slotWaitMs)]);
      const host = await slots.borrow(tooLate).catch(() => undefined);
      if (!host) return;
      // No time is left for a polite cancel, and the next worker starts from the beginning anyway.
      const kill = (): void => host.kill();
      preempted.addEventListener('abort', kill, { once: true });
      try {
        await claims.run(jobId, preempted, (job) => {
          const perform = job.claim.kind === 'render' ? runRender : runAnalyze;
          return perform(options, { ...job, host });
        });
      } finally {
        preempted.removeEventListener('abort', kill);
        slots.giveBack(host);
      }
    },
    checkCancelled: (jobId) => claims.checkCancelled(jobId),
  };
}
