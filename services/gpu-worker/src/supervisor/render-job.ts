import { join } from 'node:path';
import { ENGINES, SYNC_MODES } from '@lipsync/contract';
import { completeRender, loadRenderWork } from '@lipsync/db';
import { type MeasuredUsage, type PreparationRow, usedVideoFrames } from '@lipsync/domain';
import { outputKey } from '@lipsync/storage';
import { insist, type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult, type RenderResult } from '../inference/protocol';
import { fetchAsset } from './fetch-asset';
import { type JobContext, type JobTools } from './job-context';
import { transferring } from './job-errors';

/** Where the upload begins on the engine's own scale. */
const UPLOADING_PERCENT = 95;

/**
 * One engine's share of a render: inputs → inference → upload → the finish transaction.
 */
export async function runRender(tools: JobTools, context: JobContext): Promise<JobResult> {
  const { claim, folder, host, signal, report } = context;
  const { db, storage, packs } = tools;
  const started = performance.now();
  report('loading_model', 0);
  const runId = claim.engineRunId ?? '';
  const work = await loadRenderWork(db, runId);
  const engine = oneOf(ENGINES, work.run.engine);
  const syncMode = oneOf(SYNC_MODES, work.render.syncMode);
  const pack = packs.engines.get(engine);
  if (!pack || !packs.analyzer) throw new InferenceFailure('engine_unavailable', `no pack for ${engine}`);

  const video = await fetchAsset(tools, work.video, folder, 'video');
  const audio = await fetchAsset(tools, work.audio, folder, 'audio');
  const faceTrackPath = await fetchTrack(tools, work.preparation, context);
  signal.throwIfAborted();

  const progress = { signal, onProgress: report };
  const trackPath = join(folder, 'made-face-track.bin');
  const analysis =
    faceTrackPath === undefined
      ? await host.analyze(
          {
            jobId: claim.jobId,
            analyzerPackDir: packs.analyzer.dir,
            videoPath: video.path,
            videoSeconds: work.video.durationSeconds,
            wantedFrames: usedVideoFrames(syncMode, work.audio.durationSeconds),
            trackPath,
          },
          progress,
        )
      : null;

  const outputPath = join(folder, 'output.mp4');
  const result = await host.render(
    {
      jobId: claim.jobId,
      engine,
      packDir: pack.dir,
      videoPath: video.path,
      audioPath: audio.path,
      outputPath,
      syncMode,
      faceTrackPath: faceTrackPath ?? trackPath,
    },
    progress,
  );

  report('uploading', UPLOADING_PERCENT);
  const key = outputKey(runId, claim.fence);
  await transferring(() => storage.put(key, { file: outputPath }, { contentType: 'video/mp4', signal }));
  const usage = usageOf(work.video.durationSeconds, analysis, result, performance.now() - started);
  const accepted = await insist(signal, () => completeRender(db, claim, { outputKey: key, usage }));
  return {
    accepted,
    facts: {
      engine,
      pack: pack.version,
      sync_mode: syncMode,
      video_input: video.from,
      audio_input: audio.from,
      prepared: faceTrackPath !== undefined,
      width: result.width,
      height: result.height,
      usage,
      timings: result.timings,
    },
  };
}

/** The face track of the render's preparation, where it names one; without it the video is analysed. */
async function fetchTrack(
  { storage }: JobTools,
  preparation: PreparationRow | null,
  { folder, signal }: JobContext,
): Promise<string | undefined> {
  const key = preparation?.trackKey ?? null;
  if (key === null) return undefined;
  const path = join(folder, 'face-track.bin');
  await transferring(() => storage.getToFile(key, path, { signal }));
  return path;
}

function usageOf(
  videoSeconds: number,
  analysis: AnalyzeResult | null,
  result: RenderResult,
  processingMs: number,
): MeasuredUsage {
  return {
    input_video_seconds: videoSeconds,
    input_audio_seconds: result.inputAudioSeconds,
    output_seconds: result.outputSeconds,
    analyzed_frames: analysis?.frames ?? 0,
    rendered_frames: result.renderedFrames,
    processing_ms: Math.round(processingMs),
  };
}

/** Rows hold plain text; what is not in the contract's list was never accepted by the API. */
function oneOf<T extends string>(values: readonly T[], stored: string): T {
  const value = values.find((candidate) => candidate === stored);
  if (value === undefined) throw new Error(`unknown value in the database: ${stored}`);
  return value;
}
