import { type Telemetry } from '@lipsync/telemetry';
import { createJobRunner as createClaimRunner, type JobFolders } from '@lipsync/worker';
import { type InferenceHost } from '../host/inference-host';
import { runAnalyze } from './analyze-job';
import { blame } from './blame';
import { type JobTools } from './job-context';
import { runRender } from './render-job';
import { type SlotPool } from './slot-pool';
import { createWorkMetrics } from './work-metrics';

export interface JobRunner {
  /**
   * Claims the job and carries it to an end that the database knows, on a slot that must be free. Resolves without
   * doing anything when the job is not to be had. Never rejects for reasons of the job itself. `preempted` hands a
   * running job back and ends its child.
   */
  run(jobId: string, preempted: AbortSignal): Promise<void>;
  /** A hint that this job was cancelled; the database is asked at once. */
  checkCancelled(jobId: string): void;
}

export interface JobRunnerOptions extends Omit<JobTools, 'metrics'> {
  readonly telemetry: Telemetry;
  readonly slots: SlotPool<InferenceHost>;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Wall-clock limit of one job, milliseconds. */
  readonly limitMs: number;
}

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { db, slots, folders, workerId, limitMs, logger, telemetry } = options;
  const tools: JobTools = { ...options, metrics: createWorkMetrics(telemetry.metrics) };
  const limit = { ms: limitMs, code: 'engine_timeout' } as const;
  const claims = createClaimRunner({ db, folders, workerId, blame, limit, logger, telemetry });

  return {
    run: async (jobId, preempted) => {
      const host = slots.borrow();
      // No time is left for a polite cancel, and the next worker starts from the beginning anyway.
      const kill = (): void => host.kill();
      preempted.addEventListener('abort', kill, { once: true });
      try {
        await claims.run(jobId, preempted, (job) => {
          const perform = job.claim.kind === 'render' ? runRender : runAnalyze;
          return perform(tools, { ...job, host, preempted });
        });
      } finally {
        preempted.removeEventListener('abort', kill);
        slots.giveBack(host);
      }
    },
    checkCancelled: (jobId) => claims.checkCancelled(jobId),
  };
}
