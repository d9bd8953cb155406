import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { type JobContext, type JobTools } from './job-context';
import { storeKept } from './kept-features';
import { type ObtainedTrack, type TrackRequest } from './track-request';
import { type FeatureKey, giveUpFeature, publishFeature } from '@lipsync/db';
import { decodeFaceTrack } from '@lipsync/engines';
import { withController } from '@lipsync/runtime';
import { readFile } from 'node:fs/promises';

/** Storing a track must not delay its render for longer than this. */
const KEEP_LIMIT_MS = 30_000;

/**
 * Analyses the video, as the job that was chosen to make its track, and stores the result for others. A failure to
 * store it does not fail the job; another job then makes the track.
 */
export async function makeTrack(
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
