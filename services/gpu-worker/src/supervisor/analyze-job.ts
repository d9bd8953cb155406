import { completeAnalyze, isDatabaseUnavailable, loadAnalyzeWork } from '@lipsync/db';
import { type AssetRow, endOf, usualRate } from '@lipsync/domain';
import { allEnded } from '@lipsync/engines';
import { readStoredStream } from '@lipsync/media';
import { retryWhile } from '@lipsync/runtime';
import { type JobResult } from '@lipsync/worker';
import { type UsablePack } from '../host/find-packs';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { type EngineFeatures, openEngineFeatures, saveFeatures } from './cached-features';
import { type ObtainedTrack, obtainTrack } from './face-track';
import { fetchAsset, type GpuJob, type JobDeps, StorageFailed } from './gpu-job';
import { analysisTimes } from './slot-time';

/** Share of a preparation's progress; the engines' features are the rest. */
const ANALYSIS_SHARE = 0.5;

/**
 * A preparation: the face track of the whole video, and the features that this worker's engines cache of it, where its
 * renders look. What already exists is not computed again.
 */
export async function runAnalyze(deps: JobDeps, job: GpuJob): Promise<JobResult> {
  const { claim, slotTime, signal, report, span } = job;
  const { db, packs, metrics } = deps;
  const { analyzer } = packs;
  const { video, preparation } = await loadAnalyzeWork(db, claim.preparationId ?? '');
  const { expiresAt } = preparation;
  if (!analyzer) throw new InferenceFailure('engine_unavailable', 'no pack for the face analyzer');
  report('analyzing', 0);
  const fetching = performance.now();
  const fetched = await span.during('fetch', () => fetchAsset(deps, job, video, 'video'));
  const fetchMs = performance.now() - fetching;
  signal.throwIfAborted();
  const videoPath = fetched.path;
  const obtained = await span.during('analyze', () =>
    obtainTrack(deps, job, {
      video,
      videoPath,
      analyzer,
      expiresAt,
      wantedSeconds: Infinity,
      preparation: null,
      onProgress: (percent) => report('analyzing', percent * ANALYSIS_SHARE),
    }),
  );
  if (!obtained.isCached) throw new StorageFailed('a preparation is nothing without its track');
  const features = await span.during('features', () =>
    prepareFeatures(deps, job, {
      video,
      videoPath,
      analyzer,
      expiresAt,
      track: obtained,
      onProgress: (percent) => report('analyzing', 100 * ANALYSIS_SHARE + percent * (1 - ANALYSIS_SHARE)),
    }),
  );

  report('finalizing', 0);
  const { version, analyzerVersion, frames, clock, width, height } = obtained.track;
  const durationSeconds = endOf(clock);
  const fps = Math.max(1, Math.round(usualRate(clock)));
  const measures = { version, analyzerVersion, frames, fps, width, height, durationSeconds };
  const accepted = await retryWhile(isDatabaseUnavailable, signal, () =>
    completeAnalyze(db, claim, measures),
  );
  if (accepted) {
    metrics.prepared({ input: fetched.from, track: obtained, features, fetchMs });
    const passes = [obtained.analysis, features].filter((pass) => pass !== null);
    slotTime.spent({ files: fetchMs }, ...passes.map(analysisTimes));
  }
  return {
    accepted,
    facts: {
      pack: analyzer.version,
      video_input: fetched.from,
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
  deps: JobDeps,
  job: GpuJob,
  prepared: PreparedVideo,
): Promise<AnalyzeResult | null> {
  const { video, expiresAt } = prepared;
  const { track } = prepared.track;
  const known = await allEnded(
    [...deps.packs.engines].map(([engine, pack]) =>
      openEngineFeatures(deps, job, { engine, pack, video, track, readSeconds: 0, expiresAt }),
    ),
  );
  const incomplete = known.flatMap((features) => (features && !features.complete ? [features] : []));
  if (incomplete.length === 0) return null;
  const encoded = await encodeFeatures(deps, job, prepared, incomplete);
  if (encoded === null) return null;
  const save = async (features: EngineFeatures): Promise<void> => {
    const { engine, pack } = features;
    const problem = encoded.featuresFailed[engine];
    if (problem === undefined) {
      const seconds = endOf(track.clock);
      await saveFeatures(deps, features, { seconds, complete: true, expiresAt }, job.signal);
    } else {
      const fields = { video_asset_id: video.id, engine, pack: pack.version, problem };
      deps.logger.warn('features could not be computed ahead', fields);
    }
  };
  await allEnded(incomplete.map(save));
  return encoded;
}

/** Has the child compute what is missing; null when it fails. */
async function encodeFeatures(
  { logger }: JobDeps,
  { claim, host, signal }: GpuJob,
  { analyzer, video, videoPath, track, onProgress }: PreparedVideo,
  incomplete: readonly EngineFeatures[],
): Promise<AnalyzeResult | null> {
  try {
    return await host.analyze(
      {
        jobId: claim.jobId,
        analyzer,
        videoPath,
        ...readStoredStream(video.stream),
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
