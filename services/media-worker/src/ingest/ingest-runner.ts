import { randomUUID } from 'node:crypto';
import {
  type Claim,
  claimJob,
  completeIngest,
  type Db,
  failJob,
  heartbeatJob,
  type IngestedMedia,
  isDatabaseUnavailable,
  loadIngestWork,
  releaseJob,
  retryJob,
} from '@lipsync/db';
import { retryDelaySeconds } from '@lipsync/domain';
import { type Logger, systemClock } from '@lipsync/runtime';
import { assetKey } from '@lipsync/storage';
import { type IngestTools } from './ingest-context';
import { Preempted } from './ingest-failure';
import { ingest } from './ingest-job';
import { ingestVerdict, type IngestVerdict } from './ingest-verdict';
import { type JobFolders } from './job-folder';
import { holdJobLease } from './job-lease';
import { deleteStrays } from './stray-objects';

export interface IngestRunnerOptions extends IngestTools {
  readonly db: Db;
  readonly folders: JobFolders;
  readonly workerId: string;
  readonly logger: Logger;
  readonly leaseSeconds?: number;
}

/**
 * Claims an ingest job and carries it to an end that the database knows. Resolves without doing anything when the job
 * is not to be had; never rejects for reasons of the job itself. `preempted` hands a running job back.
 */
export type IngestRunner = (jobId: string, preempted: AbortSignal) => Promise<void>;

type End = { readonly kind: 'complete'; readonly media: IngestedMedia } | IngestVerdict;

const LEASE_SECONDS = 15;
const COMPLETE_PAUSE_MS = 500;

export function createIngestRunner(options: IngestRunnerOptions): IngestRunner {
  const { db, folders, workerId, logger } = options;
  const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;

  async function runClaimed(claim: Claim, assetId: string, preempted: AbortSignal): Promise<void> {
    const started = performance.now();
    const lease = holdJobLease({
      heartbeat: (progress) => heartbeatJob(db, claim, { leaseSeconds, ...progress }),
      leaseMs: leaseSeconds * 1000,
      clock: systemClock,
    });
    const stop = new AbortController();
    const preempt = (): void => stop.abort(new Preempted('the process is going away'));
    const lose = (): void => stop.abort(lease.signal.reason);
    lease.signal.addEventListener('abort', lose, { once: true });
    if (preempted.aborted) preempt();
    else preempted.addEventListener('abort', preempt, { once: true });
    const objectKey = assetKey(assetId, randomUUID());
    let end: End;
    let error: unknown;
    let outcome = 'unrecorded';
    try {
      const media = await folders.using(async (folder) => {
        const work = await loadIngestWork(db, assetId);
        return ingest(options, {
          lease: claim,
          work,
          folder,
          objectKey,
          signal: stop.signal,
          report: lease.report,
        });
      });
      end = { kind: 'complete', media };
    } catch (caught) {
      error = caught;
      end = ingestVerdict(caught, stop.signal.reason);
    }
    try {
      outcome = await settle(claim, end, stop.signal);
    } catch (unsettled) {
      // The lease runs out and the reconciler takes the job up.
      logger.error('the end of an ingest could not be recorded', { job_id: claim.jobId, error: unsettled });
    } finally {
      preempted.removeEventListener('abort', preempt);
      await lease.stop();
    }
    if (outcome === 'completed') await deleteStrays(options.storage, logger, assetId, objectKey);
    else if (outcome === 'failed') await deleteStrays(options.storage, logger, assetId, undefined);
    logger.wide('ingest', {
      ...{ job_id: claim.jobId, asset_id: assetId, attempt: claim.attempt, fence: claim.fence, outcome },
      ...('code' in end ? { code: end.code } : {}),
      ...(end.kind === 'complete' ? facts(end.media) : { error }),
      duration_ms: Math.round(performance.now() - started),
    });
  }

  async function settle(claim: Claim, end: End, signal: AbortSignal): Promise<string> {
    switch (end.kind) {
      case 'complete':
        return (await complete(claim, end.media, signal)) ? 'completed' : 'lost';
      case 'drop':
        return 'dropped';
      case 'release':
        return (await releaseJob(db, claim)) ? 'released' : 'lost';
      case 'retry': {
        const delaySeconds = retryDelaySeconds(claim.attempt, Math.random());
        return retryJob(db, claim, { errorCode: end.code, delaySeconds });
      }
      case 'fail':
        return (await failJob(db, claim, end.code)) ? 'failed' : 'lost';
    }
  }

  /** A finished download is not thrown away because the database was away for a second. */
  async function complete(claim: Claim, media: IngestedMedia, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        return await completeIngest(db, claim, media);
      } catch (error) {
        if (!isDatabaseUnavailable(error) || signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, COMPLETE_PAUSE_MS));
      }
    }
  }

  return async (jobId, preempted) => {
    const claim = await claimJob(db, jobId, { workerId, leaseSeconds });
    if (claim === null) return;
    if (claim.assetId === null) throw new Error(`job ${jobId} is not an ingest`);
    await runClaimed(claim, claim.assetId, preempted);
  };
}

function facts({ sizeBytes, durationSeconds, codec, width, height, frames }: IngestedMedia): object {
  return { size_bytes: sizeBytes, duration_seconds: durationSeconds, codec, width, height, frames };
}
