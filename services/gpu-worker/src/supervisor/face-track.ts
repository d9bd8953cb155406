import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  beginFeature,
  dropFeature,
  type FeatureKey,
  findFeature,
  giveUpFeature,
  publishFeature,
} from '@lipsync/db';
import { type AssetRow, type PreparationRow } from '@lipsync/domain';
import { decodeFaceTrack, FACE_TRACK_VERSION, type FaceTrack, FaceTrackError } from '@lipsync/engines';
import { readStoredStream } from '@lipsync/media';
import { withController } from '@lipsync/runtime';
import { isStorageUnavailable } from '@lipsync/storage';
import { type UsablePack } from '../host/find-packs';
import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { fetchFeature, storeFeature, trackName, type TrackOrigin } from './cached-features';
import { type GpuJob, type JobDeps, StorageFailed } from './gpu-job';
import { type TrackMeasures } from './work-metrics';

/** The face track that a job needs. */
interface TrackRequest {
  readonly video: AssetRow;
  /** Path of the video in the job's folder. */
  readonly videoPath: string;
  readonly analyzer: UsablePack;
  /** How many seconds of the video, from the start, the record depends on; Infinity for all. */
  readonly wantedSeconds: number;
  /** The preparation whose track is to be used if possible. */
  readonly preparation: PreparationRow | null;
  /** When the record expires. */
  readonly expiresAt: Date;
  /** Called with the percentage of the analysis that is done. */
  readonly onProgress: (percent: number) => void;
}

export interface ObtainedTrack extends TrackMeasures {
  readonly path: string;
  readonly track: FaceTrack;
  /** Whether the track is stored for other jobs. */
  readonly isCached: boolean;
}

/** How often to ask whether another job has made the track; an analysis takes seconds to minutes. */
const ASK_EVERY_MS = 500;

/** Storing a track must not delay its render for longer than this. */
const STORE_LIMIT_MS = 30_000;

/**
 * The face track of a video: the preparation's, a cached one, or one made here and cached. Of the jobs that need it at
 * the same time one analyzes and the others wait. Rejects with InferenceFailure, InferenceCrash or StorageFailed.
 */
export async function obtainTrack(deps: JobDeps, job: GpuJob, request: TrackRequest): Promise<ObtainedTrack> {
  const { signal } = job;
  const { wantedSeconds, expiresAt } = request;
  const path = join(job.folder, 'face-track.bin');
  const found = (track: FaceTrack, from: 'preparation' | 'cache'): ObtainedTrack => ({
    path,
    track,
    from,
    analysis: null,
    isCached: true,
  });

  const prepared = await preparedTrack(deps, request, path, signal);
  if (prepared) return found(prepared, 'preparation');
  const origin = { version: FACE_TRACK_VERSION, analyzerVersion: request.analyzer.version };
  const key = keyOf(request.video, origin);
  for (;;) {
    signal.throwIfAborted();
    const begun = await beginFeature(deps.db, key, job.claim, { wantedSeconds, expiresAt });
    switch (begun.state) {
      case 'make':
        return makeTrack(deps, job, request, key, path);
      case 'impossible':
        throw new InferenceFailure(begun.errorCode, 'an earlier analysis of this video found that out');
      case 'ready': {
        const track = await fetchTrack(deps, key, begun.content.sha256, path, signal);
        if (track) return found(track, 'cache');
        break;
      }
      case 'wait':
        request.onProgress(0);
        await pause(ASK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * The track of the render's preparation, whichever analyzer made it: a preparation's result must not change. Null when
 * there is no preparation, or when its track has an outdated format, is damaged or is missing, which is logged.
 */
async function preparedTrack(
  deps: JobDeps,
  { preparation, video, wantedSeconds, expiresAt }: TrackRequest,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  if (preparation === null) return null;
  const { id, version, analyzerVersion } = preparation;
  const readable = version === FACE_TRACK_VERSION && analyzerVersion !== null;
  if (readable) {
    const key = keyOf(video, { version, analyzerVersion });
    const content = await findFeature(deps.db, key, { wantedSeconds, expiresAt });
    const track = content && (await fetchTrack(deps, key, content.sha256, path, signal));
    if (track) return track;
  }
  deps.logger.warn('a preparation cannot be used, the video is analyzed again', {
    preparation_id: id,
    version,
    analyzer_version: analyzerVersion,
    why: readable ? 'its track is not kept any more' : 'its track is of a form that is not read',
  });
  return null;
}

/** Places a stored face track at `path` and reads it; null when it was unusable and therefore dropped. */
async function fetchTrack(
  deps: JobDeps,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  try {
    if (!(await fetchFeature(deps, key, sha256, path, signal))) return null;
    return decodeFaceTrack(await readFile(path));
  } catch (error) {
    if (!(error instanceof FaceTrackError || (await isWithheld(deps, error, signal)))) throw error;
    deps.logger.warn('a kept face track cannot be read', { name: key.name, sha256, error });
    await dropFeature(deps.db, key, sha256);
    await rm(path, { force: true });
    return null;
  }
}

/**
 * Whether the store answers and yet did not give this object, despite retries: its disk may have lost part of it. A job
 * that waited for the object, as for a store that is away, could wait until its record's deadline.
 */
async function isWithheld({ storage }: JobDeps, error: unknown, signal: AbortSignal): Promise<boolean> {
  if (!(error instanceof StorageFailed && isStorageUnavailable(error.cause))) return false;
  try {
    await storage.ping({ signal });
    return true;
  } catch {
    return false;
  }
}

/**
 * Analyzes the video, as the job that was chosen to make its track, and stores the result for others. A failure to
 * store it does not fail the job; another job then makes the track.
 */
async function makeTrack(
  deps: JobDeps,
  { claim, host, signal }: GpuJob,
  request: TrackRequest,
  key: FeatureKey,
  path: string,
): Promise<ObtainedTrack> {
  const { db, logger } = deps;
  const { analyzer, video, videoPath, expiresAt, wantedSeconds, onProgress } = request;
  const { jobId } = claim;
  const { durationSeconds: videoSeconds } = video;
  const stream = readStoredStream(video.stream);
  let analysis: AnalyzeResult;
  try {
    analysis = await host.analyze(
      { jobId, analyzer, videoPath, ...stream, videoSeconds, wantedSeconds, trackPath: path },
      { signal, onProgress: (_stage, percent) => onProgress(percent) },
    );
  } catch (error) {
    if (error instanceof InferenceFailure && error.code === 'no_face_detected') {
      const complete = !Number.isFinite(wantedSeconds);
      const fault = { errorCode: error.code, seconds: complete ? 0 : wantedSeconds, complete };
      // Best effort: it only saves the render's other engines the same analysis. What fails this job is the fault
      // itself.
      await publishFeature(db, key, fault, { expiresAt, owner: claim }).catch(() => undefined);
    }
    throw error;
  }
  const track = decodeFaceTrack(await readFile(path));
  const coverage = { seconds: analysis.settledSeconds, complete: analysis.complete };
  try {
    await withController({ signal, ms: STORE_LIMIT_MS }, (limit) =>
      storeFeature(deps, key, path, { ...coverage, expiresAt, owner: claim }, limit.signal),
    );
    return { path, track, from: 'analysis', analysis, isCached: true };
  } catch (error) {
    signal.throwIfAborted();
    logger.warn('a face track could not be kept', { name: key.name, error });
    // If this does not reach the database, the end of this job's claim has the same effect.
    await giveUpFeature(db, key, claim).catch(() => undefined);
    return { path, track, from: 'analysis', analysis, isCached: false };
  }
}

function keyOf({ customerId, sha256 }: AssetRow, origin: TrackOrigin): FeatureKey {
  if (sha256 === null) throw new StorageFailed('the video has no stored bytes');
  return { customerId, videoSha256: sha256, name: trackName(origin) };
}
