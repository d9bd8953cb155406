import { completeAnalyze, isDatabaseUnavailable, loadAnalyzeWork } from '@lipsync/db';
import { type AssetRow, WORKING_FPS } from '@lipsync/domain';
import { retryWhile } from '@lipsync/runtime';
import { type JobResult } from '@lipsync/worker';
import { type UsablePack } from '../host/find-packs';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { type EngineFeatures, keepEngineFeatures, openEngineFeatures } from './cached-features';
import { type ObtainedTrack, obtainTrack } from './face-track';
import { type JobContext, type JobTools } from './gpu-job-runner';
import { allEnded, fetchAsset, StorageFailed } from './transfers';

/** Share of a preparation's progress; the engines' features are the rest. */
const ANALYSIS_SHARE = 0.5;

/**
 * A preparation: the face track of the whole video, and the features that this worker's engines keep of it, in the
 * cache that its renders look into. What already exists is not computed again.
 */
export async function runAnalyze(tools: JobTools, context: JobContext): Promise<JobResult> {
  const { claim, signal, report, span } = context;
  const { db, packs, metrics } = tools;
  const { analyzer } = packs;
  const work = await loadAnalyzeWork(db, claim.preparationId ?? '');
  if (!analyzer) throw new InferenceFailure('engine_unavailable', 'no pack for the face analyser');
  report('analyzing', 0);
  const fetching = performance.now();
  const video = await span.during('fetch', () => fetchAsset(tools, work.video, context, 'video'));
  const fetchMs = performance.now() - fetching;
  signal.throwIfAborted();
  const { expiresAt } = work.preparation;
  const obtained = await span.during('analyse', () =>
    obtainTrack(tools, context, {
      ...{ video: work.video, videoPath: video.path, analyzer, expiresAt },
      wantedFrames: Infinity,
      preparation: null,
      onProgress: (percent) => report('analyzing', percent * ANALYSIS_SHARE),
    }),
  );
  if (!obtained.isKept) throw new StorageFailed('a preparation is nothing without its track');
  const features = await span.during('features', () =>
    prepareFeatures(tools, context, {
      ...{ video: work.video, videoPath: video.path, analyzer, expiresAt },
      track: obtained,
      onProgress: (percent) => report('analyzing', 100 * ANALYSIS_SHARE + percent * (1 - ANALYSIS_SHARE)),
    }),
  );

  report('finalizing', 0);
  const { version, analyzerVersion, frames, fps, width, height } = obtained.track;
  const durationSeconds = frames / WORKING_FPS;
  const measures = { version, analyzerVersion, frames, fps, width, height, durationSeconds };
  const accepted = await retryWhile(isDatabaseUnavailable, signal, () =>
    completeAnalyze(db, claim, measures),
  );
  if (accepted) metrics.prepared({ input: video.from, track: obtained, features, fetchMs });
  return {
    accepted,
    facts: {
      pack: analyzer.version,
      video_input: video.from,
      face_track: obtained.from,
      features_added: features?.featuresAdded ?? {},
      codecs_replaced: [obtained.analysis, features].flatMap((pass) => pass?.replacedCodecs ?? []),
      ...measures,
      ...(obtained.analysis ? { timings: obtained.analysis.timings } : {}),
      ...(features ? { features_timings: features.timings } : {}),
    },
  };
}

interface PreparedVideo {
  readonly video: AssetRow;
  readonly videoPath: string;
  readonly analyzer: UsablePack;
  /** The track of the whole video. */
  readonly track: ObtainedTrack;
  /** When the preparation expires. */
  readonly expiresAt: Date;
  /** Called with the percentage of the work that is done. */
  readonly onProgress: (percent: number) => void;
}

/**
 * Computes the features that this worker's engines still lack for a video. An engine that fails at it fails neither the
 * preparation nor another engine: its renders compute what they need. Null when there was nothing to do, or the child
 * failed as a whole. Rejects with StorageFailed when the computed features cannot be stored.
 */
async function prepareFeatures(
  tools: JobTools,
  context: JobContext,
  prepared: PreparedVideo,
): Promise<AnalyzeResult | null> {
  const { video, expiresAt } = prepared;
  const { track } = prepared.track;
  const known = await allEnded(
    [...tools.packs.engines].map(([engine, pack]) =>
      openEngineFeatures(tools, context, { engine, pack, video, track, readFrames: 0, expiresAt }),
    ),
  );
  const incomplete = known.flatMap((features) => (features && !features.complete ? [features] : []));
  if (incomplete.length === 0) return null;
  const encoded = await encode(tools, context, prepared, incomplete);
  if (encoded === null) return null;
  const keep = async (features: EngineFeatures): Promise<void> => {
    const problem = encoded.featuresFailed[features.engine];
    if (problem !== undefined) {
      tools.logger.warn('features could not be computed ahead', {
        ...{ video_asset_id: video.id, engine: features.engine, pack: features.pack.version, problem },
      });
      return;
    }
    const made = { frames: track.frames, complete: true, expiresAt };
    await keepEngineFeatures(tools, features, made, context.signal);
  };
  await allEnded(incomplete.map(keep));
  return encoded;
}

/** Has the child compute what is missing; null when it fails. */
async function encode(
  { logger }: JobTools,
  { claim, host, signal }: JobContext,
  { analyzer, video, videoPath, track, onProgress }: PreparedVideo,
  incomplete: readonly EngineFeatures[],
): Promise<AnalyzeResult | null> {
  try {
    return await host.analyze(
      {
        jobId: claim.jobId,
        analyzer,
        videoPath,
        videoSeconds: video.durationSeconds,
        trackPath: track.path,
        reuseTrack: true,
        engines: incomplete.map(({ engine, pack, path }) => ({ engine, pack, featuresPath: path })),
      },
      { signal, onProgress: (_stage, percent) => onProgress(percent) },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof InferenceFailure || error instanceof InferenceCrash)) throw error;
    logger.warn('features could not be computed ahead', { video_asset_id: video.id, error });
    return null;
  }
}
