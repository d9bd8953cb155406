import { type Telemetry } from '@lipsync/telemetry';
import { createJobRunner, type JobFolders, type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { type InferenceHost } from '../host/inference-host';
import { type FailureCode } from '../protocol/messages';
import { runAnalyze } from './analyze-job';
import { blame } from './blame';
import { type JobTools } from './job-context';
import { transferring } from './job-errors';
import { runRender } from './render-job';
import { type SlotPool } from './slot-pool';
import { createWorkMetrics } from './work-metrics';

export interface GpuJobRunner {
  /**
   * Claims the job and carries it to an end that the database knows, on a slot that must be free. Resolves without
   * doing anything when the job is not to be had. Never rejects for reasons of the job itself. `preempted` hands a
   * running job back and ends its child.
   */
  run(jobId: string, preempted: AbortSignal): Promise<void>;
  /** A hint that this job was cancelled; the database is asked at once. */
  checkCancelled(jobId: string): void;
}

export interface GpuJobRunnerOptions extends Omit<JobTools, 'metrics'> {
  readonly telemetry: Telemetry;
  readonly slots: SlotPool<InferenceHost>;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Wall-clock limit of one job, milliseconds. */
  readonly limitMs: number;
  /** Told, in words, why every job here would fail from now on. No other one is taken. */
  readonly onUnfit?: (reason: string) => void;
}

/** What every other job here would fail of. */
const UNFIT: Readonly<Partial<Record<FailureCode, string>>> = {
  pack_lost: 'a model pack is not what it was when it was verified',
  device_lost: 'graphs fail on the GPU, in a fresh process too',
};

export function createGpuJobRunner(options: GpuJobRunnerOptions): GpuJobRunner {
  const { db, storage, slots, folders, workerId, limitMs, logger, telemetry } = options;
  const tools: JobTools = { ...options, metrics: createWorkMetrics(telemetry.metrics) };
  const limit = { ms: limitMs, code: 'engine_timeout' } as const;
  const claims = createJobRunner({ db, folders, workerId, blame, limit, logger, telemetry });
  let isUnfit = false;

  /** Hands the job back at no cost: it is not the job's fault, and every other one here would end like it. */
  async function handBackIfUnfit(
    handBack: AbortController,
    work: () => Promise<JobResult>,
  ): Promise<JobResult> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof InferenceFailure ? UNFIT[error.code] : undefined;
      if (reason !== undefined) {
        logger.error(reason, { error });
        isUnfit = true;
        handBack.abort();
        options.onUnfit?.(reason);
      }
      throw error;
    }
  }

  return {
    run: async (jobId, preempted) => {
      if (isUnfit) return;
      const host = slots.borrow();
      // No time is left for a polite cancel, and the next worker starts from the beginning anyway.
      const kill = (): void => host.kill();
      preempted.addEventListener('abort', kill, { once: true });
      try {
        // Its own, for the jobs of other packs go on until the process stops.
        const handBack = new AbortController();
        await claims.run(jobId, AbortSignal.any([preempted, handBack.signal]), (job) => {
          const perform = job.claim.kind === 'render' ? runRender : runAnalyze;
          return handBackIfUnfit(handBack, async () => {
            // Inputs may lie here already: that nobody could take the result would be found when it is made.
            await transferring(() => storage.ping({ signal: job.signal }));
            return perform(tools, { ...job, host, preempted });
          });
        });
      } finally {
        preempted.removeEventListener('abort', kill);
        slots.giveBack(host);
      }
    },
    checkCancelled: (jobId) => claims.checkCancelled(jobId),
  };
}
