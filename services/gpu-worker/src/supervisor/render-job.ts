import { join } from 'node:path';
import { ENGINES, SYNC_MODES } from '@lipsync/contract';
import { completeRender, loadRenderWork } from '@lipsync/db';
import { type AssetRow, type MeasuredUsage, usedVideoFrames } from '@lipsync/domain';
import { outputKey } from '@lipsync/storage';
import { insist, type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult, type RenderResult } from '../inference/protocol';
import { type EngineFeatures, keepEngineFeatures, openEngineFeatures } from './engine-features';
import { fetchAsset } from './fetch-asset';
import { type JobContext, type JobTools } from './job-context';
import { transferring } from './job-errors';
import { obtainTrack } from './obtain-track';

/** Where the upload begins on the engine's own scale. */
const UPLOADING_PERCENT = 95;
/** The slot is free for the next job after that, whatever the store is doing. */
const KEEP_LIMIT_MS = 60_000;

/**
 * One engine's share of a render: inputs → face track → inference → upload → the finish transaction.
 */
export async function runRender(tools: JobTools, context: JobContext): Promise<JobResult> {
  const { claim, folder, host, signal, report } = context;
  const { db, storage, packs, podMeter } = tools;
  const startedAt = new Date();
  report('loading_model', 0);
  const runId = claim.engineRunId ?? '';
  const work = await loadRenderWork(db, runId);
  const engine = oneOf(ENGINES, work.run.engine);
  const syncMode = oneOf(SYNC_MODES, work.render.syncMode);
  const pack = packs.engines.get(engine);
  if (!pack || !packs.analyzer) throw new InferenceFailure('engine_unavailable', `no pack for ${engine}`);

  const { expiresAt } = work.render;

  const video = await fetchAsset(tools, work.video, folder, 'video');
  const audio = await fetchAsset(tools, work.audio, folder, 'audio');
  signal.throwIfAborted();
  const track = await obtainTrack(tools, context, {
    video: work.video,
    videoPath: video.path,
    analyzer: packs.analyzer,
    wantedFrames: usedVideoFrames(syncMode, work.audio.durationSeconds),
    preparation: work.preparation,
    expiresAt,
    onProgress: (percent) => report('preparing', percent),
  });
  const wish = { engine, pack, video: work.video, track: track.track, expiresAt };
  const features = await openEngineFeatures(tools, context, wish);

  const outputPath = join(folder, 'output.mp4');
  const result = await host.render(
    {
      jobId: claim.jobId,
      engine,
      packDir: pack.dir,
      analyzerPackDir: packs.analyzer.dir,
      videoPath: video.path,
      audioPath: audio.path,
      outputPath,
      syncMode,
      faceTrackPath: track.path,
      ...(features === null ? {} : { featuresPath: features.path }),
    },
    { signal, onProgress: report },
  );

  report('uploading', UPLOADING_PERCENT);
  const key = outputKey(runId, claim.fence);
  await transferring(() => storage.put(key, { file: outputPath }, { contentType: 'video/mp4', signal }));
  const endedAt = new Date();
  const gpuInferenceMs = gpuTime(track.analysis, result);
  const machine = await podMeter.measure({ startedAt, endedAt, claims: claim.fence, gpuInferenceMs });
  const processingMs = endedAt.getTime() - startedAt.getTime();
  const usage = { ...usageOf(work.video, track.analysis, result), ...machine, processing_ms: processingMs };
  const accepted = await insist(signal, () => completeRender(db, claim, { outputKey: key, usage }));
  if (accepted && features) await keepGrown(tools, context, features, result.featuresAdded, expiresAt);
  return {
    accepted,
    facts: {
      engine,
      pack: pack.version,
      sync_mode: syncMode,
      video_input: video.from,
      audio_input: audio.from,
      face_track: track.from,
      features_known: features?.frames ?? 0,
      features_added: result.featuresAdded,
      detector_runs: (track.analysis?.detectorRuns ?? 0) + result.detectorRuns,
      width: result.width,
      height: result.height,
      usage,
      quality: result.quality,
      timings: result.timings,
    },
  };
}

/** Keeps what the render learned about the video for the next one. The render has ended: nothing can fail it any more. */
async function keepGrown(
  tools: JobTools,
  { preempted }: JobContext,
  features: EngineFeatures,
  added: number,
  expiresAt: Date,
): Promise<void> {
  if (added === 0 || features.complete) return;
  try {
    const limit = AbortSignal.any([preempted, AbortSignal.timeout(KEEP_LIMIT_MS)]);
    const made = { frames: features.frames + added, complete: false, expiresAt };
    await keepEngineFeatures(tools, features, made, limit);
  } catch (error) {
    tools.logger.warn('features could not be kept', { name: features.key.name, error });
  }
}

/** Milliseconds on a GPU in all parts of the job; null when none was used. */
function gpuTime(...parts: ({ readonly gpuInferenceMs: number | null } | null)[]): number | null {
  const measured = parts.flatMap((part) => part?.gpuInferenceMs ?? []);
  return measured.length === 0 ? null : measured.reduce((sum, ms) => sum + ms, 0);
}

function usageOf(video: AssetRow, analysis: AnalyzeResult | null, result: RenderResult): MeasuredUsage {
  return {
    input_video_seconds: video.durationSeconds,
    input_audio_seconds: result.inputAudioSeconds,
    output_seconds: result.outputSeconds,
    analyzed_frames: analysis?.frames ?? 0,
    rendered_frames: result.renderedFrames,
  };
}

/** Rows hold plain text; what is not in the contract's list was never accepted by the API. */
function oneOf<T extends string>(values: readonly T[], stored: string): T {
  const value = values.find((candidate) => candidate === stored);
  if (value === undefined) throw new Error(`unknown value in the database: ${stored}`);
  return value;
}
