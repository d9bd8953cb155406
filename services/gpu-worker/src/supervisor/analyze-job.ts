import { completeAnalyze, isDatabaseUnavailable, loadAnalyzeWork } from '@lipsync/db';
import { WORKING_FPS } from '@lipsync/domain';
import { retryWhile } from '@lipsync/runtime';
import { type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { fetchAsset } from './fetch-asset';
import { type JobContext, type JobTools } from './job-context';
import { StorageFailed } from './job-errors';
import { obtainTrack } from './obtain-track';
import { prepareFeatures } from './prepare-features';

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
