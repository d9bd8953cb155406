import { type AssetRow } from '@lipsync/domain';
import { type UsablePack } from '../host/find-packs';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult } from '../protocol/messages';
import { allEnded } from './all-ended';
import { type EngineFeatures, keepEngineFeatures, openEngineFeatures } from './engine-features';
import { type JobContext, type JobTools } from './job-context';
import { type ObtainedTrack } from './track-request';

export interface PreparedVideo {
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
export async function prepareFeatures(
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
