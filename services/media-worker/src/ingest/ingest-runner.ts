import { randomUUID } from 'node:crypto';
import {
  completeIngest,
  type Db,
  type IngestedMedia,
  isDatabaseUnavailable,
  loadIngestWork,
} from '@lipsync/db';
import { type LogFields, type Logger, retryWhile } from '@lipsync/runtime';
import { assetKey } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type ClaimedJob, createJobRunner, type JobFolders, type JobResult } from '@lipsync/worker';
import { classifyIngestError } from './ingest-blame';
import { type IngestTools } from './ingest-context';
import { ingest } from './ingest-job';
import { deleteStrays } from './stray-objects';

export interface IngestRunnerOptions extends IngestTools {
  readonly db: Db;
  readonly folders: JobFolders;
  readonly workerId: string;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}

/**
 * Claims an ingest job and runs it until its outcome is in the database. Resolves without doing anything when the job
 * cannot be claimed; never rejects because of the job itself. Aborting `preempted` hands a running job back. `decided`
 * is called when it is known who has the job.
 */
export type IngestRunner = (jobId: string, preempted: AbortSignal, decided?: () => void) => Promise<void>;

export function createIngestRunner(options: IngestRunnerOptions): IngestRunner {
  const { db, storage, folders, workerId, logger, telemetry } = options;
  const ingestedBytes = telemetry.metrics.counter('ingest_bytes_total').at({});
  const jobs = createJobRunner({
    db,
    folders,
    workerId,
    classifyError: classifyIngestError,
    logger,
    telemetry,
  });

  async function perform(job: ClaimedJob, version: string): Promise<JobResult> {
    const { claim, folder, signal, report, span } = job;
    if (claim.assetId === null) throw new Error('the job is not an ingest');
    const work = await loadIngestWork(db, claim.assetId);
    const objectKey = assetKey(claim.assetId, version);
    const media = await ingest(options, { work, folder, objectKey, signal, report, span });
    const accepted = await retryWhile(isDatabaseUnavailable, signal, () => completeIngest(db, claim, media));
    if (accepted) ingestedBytes.inc(media.sizeBytes);
    return { accepted, facts: measures(media) };
  }

  return async (jobId, preempted, decided) => {
    const version = randomUUID();
    const ended = await jobs.run(jobId, preempted, (job) => perform(job, version), decided);
    const assetId = ended?.claim.assetId ?? null;
    if (assetId === null) return;
    if (ended?.outcome === 'completed') {
      await deleteStrays(storage, logger, assetId, assetKey(assetId, version));
    } else if (ended?.outcome === 'failed') {
      await deleteStrays(storage, logger, assetId, undefined);
    }
  };
}

function measures({ sizeBytes, durationSeconds, codec, width, height, frames }: IngestedMedia): LogFields {
  return { size_bytes: sizeBytes, duration_seconds: durationSeconds, codec, width, height, frames };
}
