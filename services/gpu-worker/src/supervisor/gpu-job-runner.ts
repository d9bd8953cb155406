import { CredentialsError } from '@lipsync/credentials';
import { withController } from '@lipsync/runtime';
import { type Telemetry } from '@lipsync/telemetry';
import { createJobRunner, type JobFolders, type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { type InferenceHost } from '../host/inference-host';
import { type FailureCode } from '../protocol/messages';
import { runAnalyze } from './analyze-job';
import { classifyError } from './classify-error';
import { type JobDeps, transferring } from './gpu-job';
import { runRender } from './render-job';
import { createSlotTime } from './slot-time';
import { createWorkMetrics } from './work-metrics';

export interface GpuJobRunnerDeps extends Omit<JobDeps, 'metrics'> {
  readonly telemetry: Telemetry;
  readonly slots: SlotPool;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Wall-clock limit of one job in milliseconds. */
  readonly limitMs: number;
  /** Called with the reason why every job here would fail from now on. No further job is taken. */
  readonly onUnfit?: (reason: string) => void;
}

/** Failures that every further job here would share. */
const UNFIT: Readonly<Partial<Record<FailureCode, string>>> = {
  pack_lost: 'a model pack is not what it was when it was verified',
  device_lost: 'graphs fail on the GPU, in a fresh process too',
};

function unfitReason(error: unknown): string | undefined {
  if (error instanceof CredentialsError) return 'outputs can no longer be signed';
  return error instanceof InferenceFailure ? UNFIT[error.code] : undefined;
}

export function createGpuJobRunner(deps: GpuJobRunnerDeps) {
  const { db, storage, slots, folders, workerId, limitMs, logger, telemetry } = deps;
  const jobDeps: JobDeps = { ...deps, metrics: createWorkMetrics(telemetry.metrics) };
  const slotTimes = createSlotTime(telemetry.metrics, slots.size);
  const limit = { ms: limitMs, code: 'engine_timeout' } as const;
  const jobs = createJobRunner({ db, folders, workerId, classifyError, limit, logger, telemetry });
  let isUnfit = false;

  /** Hands the job back at no cost: the failure is not its fault, and every other job here would fail the same way. */
  async function handBackIfUnfit(
    handBack: AbortController,
    work: () => Promise<JobResult>,
  ): Promise<JobResult> {
    try {
      return await work();
    } catch (error) {
      const reason = unfitReason(error);
      if (reason !== undefined) {
        logger.error(reason, { error });
        isUnfit = true;
        handBack.abort();
        deps.onUnfit?.(reason);
      }
      throw error;
    }
  }

  return {
    /**
     * Claims the job and runs it until its outcome is in the database, on a slot that must be free. Resolves without
     * doing anything when the job cannot be claimed. Never rejects because of the job itself. Aborting `preempted` hands
     * a running job back and ends its child. `decided` is called when it is known who has the job.
     */
    run: async (jobId: string, preempted: AbortSignal, decided?: () => void): Promise<void> => {
      if (isUnfit) return;
      const host = slots.take();
      const slotTime = slotTimes.begin();
      // There is no time for a graceful cancel, and the next worker starts from the beginning anyway.
      const kill = (): void => host.kill();
      preempted.addEventListener('abort', kill, { once: true });
      try {
        // A controller per job, because jobs on other packs continue until the process stops.
        await withController({ signal: preempted }, (handBack) =>
          jobs.run(
            jobId,
            handBack.signal,
            (job) => {
              const perform = job.claim.kind === 'render' ? runRender : runAnalyze;
              return handBackIfUnfit(handBack, async () => {
                // The inputs may all be cached, and an unavailable store would then be noticed only once the result is
                // ready.
                await transferring(() => storage.ping({ signal: job.signal }));
                return perform(jobDeps, { ...job, host, slotTime, preempted });
              });
            },
            decided,
          ),
        );
      } finally {
        preempted.removeEventListener('abort', kill);
        slots.giveBack(host);
        slotTime.end();
      }
    },
    /** A hint that this job was cancelled; the database is queried at once. */
    checkCancelled: (jobId: string): void => jobs.checkCancelled(jobId),
  };
}

type SlotPool = ReturnType<typeof createSlotPool>;

/** The inference processes, each with one job at a time. */
export function createSlotPool(hosts: readonly InferenceHost[]) {
  const free = [...hosts];
  return {
    size: hosts.length,
    /** Throws when none is free: callers must not take more work than there are slots. */
    take(): InferenceHost {
      const host = free.shift();
      if (host === undefined) throw new Error(`all ${hosts.length} slots are taken`);
      return host;
    },
    giveBack(host: InferenceHost): void {
      free.push(host);
    },
  };
}
