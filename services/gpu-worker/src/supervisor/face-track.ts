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
import { decodeFaceTrack, FACE_TRACK_VERSION, type FaceTrack, FaceTrackError } from '@lipsync/lipsync';
import { withController } from '@lipsync/runtime';
import { isStorageUnavailable } from '@lipsync/storage';
import { type UsablePack } from '../host/find-packs';
import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { fetchKept, storeKept, trackName, type TrackOrigin } from './cached-features';
import { type JobContext, type JobTools } from './gpu-job-runner';
import { StorageFailed } from './transfers';

/** The face track that a job needs. */
interface TrackRequest {
  readonly video: AssetRow;
  /** Path of the video in the job's folder. */
  readonly videoPath: string;
  readonly analyzer: UsablePack;
  /** Number of leading frames that the record depends on; Infinity for all. */
  readonly wantedFrames: number;
  /** The preparation whose track is to be used if possible. */
  readonly preparation: PreparationRow | null;
  /** When the record expires. */
  readonly expiresAt: Date;
  /** Called with the percentage of the analysis that is done. */
  readonly onProgress: (percent: number) => void;
}

export interface ObtainedTrack {
  readonly path: string;
  readonly track: FaceTrack;
  readonly from: 'preparation' | 'cache' | 'analysis';
  /** The analysis made by this job; null when the track already existed. */
  readonly analysis: AnalyzeResult | null;
  /** Whether the track is stored for other jobs. */
  readonly isKept: boolean;
}

/** How often to ask whether another job has made the track; an analysis takes seconds to minutes. */
const ASK_EVERY_MS = 500;

/**
 * The face track of a video: the preparation's, a stored one, or one made here and stored. Of the jobs that need it at
 * the same time one analyses and the others wait. Rejects with InferenceFailure, InferenceCrash or StorageFailed.
 */
export async function obtainTrack(
  tools: JobTools,
  context: JobContext,
  request: TrackRequest,
): Promise<ObtainedTrack> {
  const { db } = tools;
  const { claim, folder, signal } = context;
  const { wantedFrames, expiresAt, analyzer } = request;
  const path = join(folder, 'face-track.bin');
  const found = (track: FaceTrack, from: 'preparation' | 'cache'): ObtainedTrack => ({
    ...{ path, track, from, analysis: null, isKept: true },
  });

  const prepared = await preparedTrack(tools, request, path, signal);
  if (prepared) return found(prepared, 'preparation');
  const key = keyOf(request.video, { version: FACE_TRACK_VERSION, analyzerVersion: analyzer.version });
  for (;;) {
    signal.throwIfAborted();
    const begun = await beginFeature(db, key, claim, { wantedFrames, expiresAt });
    switch (begun.state) {
      case 'make':
        return makeTrack(tools, context, request, key, path);
      case 'impossible':
        throw new InferenceFailure(begun.errorCode, 'an earlier analysis of this video found that out');
      case 'ready': {
        const track = await fetchTrack(tools, key, begun.content.sha256, path, signal);
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
 * The track of the render's preparation, whichever analyser made it: a preparation's result must not change. Null when
 * there is no preparation, or when its track has an outdated format, is damaged or is missing, which is logged.
 */
async function preparedTrack(
  tools: JobTools,
  request: TrackRequest,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  const { preparation, video, wantedFrames, expiresAt } = request;
  if (preparation === null) return null;
  const { id, version, analyzerVersion } = preparation;
  const readable = version === FACE_TRACK_VERSION && analyzerVersion !== null;
  if (readable) {
    const key = keyOf(video, { version, analyzerVersion });
    const content = await findFeature(tools.db, key, { wantedFrames, expiresAt });
    const track = content && (await fetchTrack(tools, key, content.sha256, path, signal));
    if (track) return track;
  }
  const why = readable ? 'its track is not kept any more' : 'its track is of a form that is not read';
  tools.logger.warn('a preparation cannot be used, the video is analysed anew', {
    ...{ preparation_id: id, version, analyzer_version: analyzerVersion, why },
  });
  return null;
}

function keyOf({ customerId, sha256 }: AssetRow, origin: TrackOrigin): FeatureKey {
  if (sha256 === null) throw new StorageFailed('the video has no stored bytes');
  return { customerId, videoSha256: sha256, name: trackName(origin) };
}

/** Places a stored face track at `path` and reads it; null when it was unusable and therefore dropped. */
async function fetchTrack(
  tools: JobTools,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  try {
    if (!(await fetchKept(tools, key, sha256, path, signal))) return null;
    return decodeFaceTrack(await readFile(path));
  } catch (error) {
    if (!(error instanceof FaceTrackError || (await isWithheld(tools, error, signal)))) throw error;
    tools.logger.warn('a kept face track cannot be read', { name: key.name, sha256, error });
    await dropFeature(tools.db, key, sha256);
    await rm(path, { force: true });
    return null;
  }
}

/**
 * Whether the store answers and yet did not give this object, despite retries: its disk may have lost part of it. A job
 * that waited for the object, as for a store that is away, could wait until its record's deadline.
 */
async function isWithheld(
  { storage }: Pick<JobTools, 'storage'>,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof StorageFailed && isStorageUnavailable(error.cause))) return false;
  try {
    await storage.ping({ signal });
    return true;
  } catch {
    return false;
  }
}

/** Storing a track must not delay its render for longer than this. */
const KEEP_LIMIT_MS = 30_000;

/**
 * Analyses the video, as the job that was chosen to make its track, and stores the result for others. A failure to
 * store it does not fail the job; another job then makes the track.
 */
async function makeTrack(
  tools: JobTools,
  context: JobContext,
  request: TrackRequest,
  key: FeatureKey,
  path: string,
): Promise<ObtainedTrack> {
  const { db, logger } = tools;
  const { claim, signal } = context;
  const { expiresAt, wantedFrames } = request;
  let analysis: AnalyzeResult;
  try {
    analysis = await analyse(context, request, path);
  } catch (error) {
    if (error instanceof InferenceFailure && error.code === 'no_face_detected') {
      const complete = !Number.isFinite(wantedFrames);
      const fault = { errorCode: error.code, frames: complete ? 0 : wantedFrames, complete };
      // Best effort: it only saves the render's other engines the same analysis. What fails this job is the fault
      // itself.
      await publishFeature(db, key, fault, { expiresAt, maker: claim }).catch(() => undefined);
    }
    throw error;
  }
  const track = decodeFaceTrack(await readFile(path));
  const coverage = { frames: analysis.settledFrames, complete: analysis.complete };
  try {
    await withController({ signal, ms: KEEP_LIMIT_MS }, (limit) =>
      storeKept(tools, key, path, { ...coverage, expiresAt, maker: claim }, limit.signal),
    );
    return { path, track, from: 'analysis', analysis, isKept: true };
  } catch (error) {
    signal.throwIfAborted();
    logger.warn('a face track could not be kept', { name: key.name, error });
    // If this does not reach the database, the end of this job's claim has the same effect.
    await giveUpFeature(db, key, claim).catch(() => undefined);
    return { path, track, from: 'analysis', analysis, isKept: false };
  }
}

function analyse(
  { claim, host, signal }: JobContext,
  request: TrackRequest,
  trackPath: string,
): Promise<AnalyzeResult> {
  const { analyzer, video, videoPath, wantedFrames, onProgress } = request;
  return host.analyze(
    {
      jobId: claim.jobId,
      analyzer,
      videoPath,
      videoSeconds: video.durationSeconds,
      wantedFrames,
      trackPath,
    },
    { signal, onProgress: (_stage, percent) => onProgress(percent) },
  );
}
