import { randomUUID } from 'node:crypto';
import {
  completeIngest,
  type Db,
  type IngestedMedia,
  isDatabaseUnavailable,
  loadIngestWork,
} from '@lipsync/db';
import { parseMediaType } from '@lipsync/domain';
import { type Binaries, probe, type ProbeResult, storedStream } from '@lipsync/media';
import { type LogFields, type Logger, retryWhile } from '@lipsync/runtime';
import { assetKey, assetPrefix, type Storage } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type ClaimedJob, createJobRunner, type JobFolders, type JobResult } from '@lipsync/worker';
import { type FetchDeps, fetchMedia, type Ingest } from './fetch-media';
import { classifyIngestError } from './ingest-failure';

/** Shared by every ingest of this process. */
interface IngestDeps extends FetchDeps {
  readonly db: Db;
  readonly storage: FetchDeps['storage'] & Pick<Storage, 'put' | 'delete' | 'list'>;
  readonly binaries: Binaries;
  readonly probeTimeoutMs: number;
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

export function createIngestRunner(deps: IngestDeps): IngestRunner {
  const { db, folders, workerId, logger, telemetry } = deps;
  const ingestedBytes = telemetry.metrics.counter('ingest_bytes_total');
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
    const media = await ingest(deps, { work, folder, objectKey, signal, report, span });
    const accepted = await retryWhile(isDatabaseUnavailable, signal, () => completeIngest(db, claim, media));
    if (accepted) ingestedBytes.inc({}, media.sizeBytes);
    return { accepted, facts: measureFields(media) };
  }

  return async (jobId, preempted, decided) => {
    const version = randomUUID();
    const ended = await jobs.run(jobId, preempted, (job) => perform(job, version), decided);
    const assetId = ended?.claim.assetId ?? null;
    if (assetId === null) return;
    if (ended?.outcome === 'completed') await deleteStrays(deps, assetId, assetKey(assetId, version));
    else if (ended?.outcome === 'failed') await deleteStrays(deps, assetId, undefined);
  };
}

/**
 * Downloads the bytes of an asset, decides whether they are usable, measures them and stores them under a key that
 * nothing can change. Throws IngestFailure, MediaError, MediaProcessError, StorageError, or the signal's reason.
 */
async function ingest(deps: IngestDeps, job: Ingest): Promise<IngestedMedia> {
  const { work, objectKey, signal, report, span } = job;
  const fetched = await span.during('fetch', () => fetchMedia(deps, job));
  signal.throwIfAborted();
  report('probing', 100);
  const probed = await span.during('probe', () =>
    probe(deps.binaries, fetched.path, {
      mediaType: parseMediaType(work.asset.mediaType),
      deadlineMs: deps.probeTimeoutMs,
      signal,
    }),
  );
  const { path, sha256, sizeBytes, contentType } = fetched;
  if (!fetched.stored) {
    await span.during('store', () => deps.storage.put(objectKey, { file: path }, { contentType, signal }));
  }
  return { objectKey, sha256, sizeBytes, contentType, ...measures(probed), stream: storedStream(probed) };
}

/** Rounds frame rates to a thousandth: 29.97 rather than the result of a division. */
function measures({
  video,
  audio,
}: ProbeResult): Pick<IngestedMedia, 'codec' | 'durationSeconds' | 'width' | 'height' | 'frames' | 'fps'> {
  if (video !== undefined) {
    const { codec, durationSeconds, width, height, frames } = video;
    return { codec, durationSeconds, width, height, frames, fps: Math.round(video.fps * 1000) / 1000 };
  }
  if (audio === undefined) throw new Error('the probe measured nothing');
  return { codec: audio.codec, durationSeconds: audio.durationSeconds };
}

/**
 * Deletes the objects that attempts at an asset left in storage, except the accepted one (if any). A worker that is
 * killed between storing and completing leaves one behind. Best effort; call it only for a job that has just ended.
 */
async function deleteStrays(
  { storage, logger }: IngestDeps,
  assetId: string,
  accepted: string | undefined,
): Promise<void> {
  try {
    const strays: string[] = [];
    for await (const key of storage.list(assetPrefix(assetId))) if (key !== accepted) strays.push(key);
    if (strays.length > 0) await storage.delete(strays);
  } catch (error) {
    logger.warn('objects of unfinished attempts were not deleted', { asset_id: assetId, error });
  }
}

function measureFields({
  sizeBytes,
  durationSeconds,
  codec,
  width,
  height,
  frames,
}: IngestedMedia): LogFields {
  return { size_bytes: sizeBytes, duration_seconds: durationSeconds, codec, width, height, frames };
}
