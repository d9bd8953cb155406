import { join } from 'node:path';
import { ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { completeRender, isDatabaseUnavailable, loadRenderWork } from '@lipsync/db';
import { type AssetRow, type MeasuredUsage, storedWord, usedVideoFrames } from '@lipsync/domain';
import { type LogFields, retryWhile, withController } from '@lipsync/runtime';
import { isStorageUnavailable, outputKey } from '@lipsync/storage';
import { type JobResult } from '@lipsync/worker';
import { type UsablePack } from '../host/find-packs';
import { InferenceFailure } from '../host/inference-error';
import { type AnalyzeResult, type RenderResult } from '../protocol/messages';
import { type PodMeter } from '../usage/pod-meter';
import { keepAdded, openEngineFeatures } from './cached-features';
import { obtainTrack } from './face-track';
import { type JobContext, type JobTools } from './gpu-job-runner';
import { allEnded, fetchAsset, transferring } from './transfers';
import { type MeasuredRender } from './work-metrics';

/** Percentage at which the upload begins, on the engine's own scale. */
const UPLOADING_PERCENT = 95;

/** One engine's share of a render: inputs → face track → inference → upload → the finish transaction. */
export async function runRender(tools: JobTools, context: JobContext): Promise<JobResult> {
  const { claim, folder, host, signal, report, span } = context;
  const { db, packs, podMeter, metrics, logger } = tools;
  const startedAt = new Date();
  const began = performance.now();
  report('loading_model', 0);
  const runId = claim.engineRunId ?? '';
  const work = await loadRenderWork(db, runId);
  const engine = storedWord(ENGINES, work.run.engine, 'an engine');
  const syncMode = storedWord(SYNC_MODES, work.render.syncMode, 'a sync mode');
  const pack = packs.engines.get(engine);
  if (!pack || !packs.analyzer) throw new InferenceFailure('engine_unavailable', `no pack for ${engine}`);
  const { expiresAt } = work.render;
  const fetching = performance.now();
  const [video, audio] = await span.during('fetch', () =>
    allEnded([
      fetchAsset(tools, work.video, context, 'video'),
      fetchAsset(tools, work.audio, context, 'audio'),
    ]),
  );
  const fetchMs = performance.now() - fetching;
  signal.throwIfAborted();
  const { analyzer } = packs;
  const wantedFrames = usedVideoFrames(syncMode, work.audio.durationSeconds);
  const track = await span.during('analyse', () =>
    obtainTrack(tools, context, {
      video: work.video,
      videoPath: video.path,
      analyzer,
      wantedFrames,
      preparation: work.preparation,
      expiresAt,
      onProgress: (percent) => report('preparing', percent),
    }),
  );
  const request = {
    engine,
    pack,
    video: work.video,
    track: track.track,
    readFrames: wantedFrames,
    expiresAt,
  };
  const features = await openEngineFeatures(tools, context, request);

  const outputPath = join(folder, 'output.mp4');
  const result = await span.during('render', () =>
    host.render(
      {
        jobId: claim.jobId,
        engine,
        pack,
        analyzer,
        videoPath: video.path,
        audioPath: audio.path,
        outputPath,
        syncMode,
        faceTrackPath: track.path,
        ...(features === null ? {} : { featuresPath: features.path }),
      },
      { signal, onProgress: report },
    ),
  );

  const { problem } = result.quality;
  if (problem !== null)
    logger.warn('the output could not be judged', { job_id: claim.jobId, engine, problem });

  report('uploading', UPLOADING_PERCENT);
  const key = outputKey(runId, claim.fence);
  const uploading = performance.now();
  await span.during('upload', () => storeOutput(tools, signal, { key, file: outputPath }));
  const uploadMs = performance.now() - uploading;
  const { analysis } = track;
  const processingMs = Math.round(performance.now() - began);
  const ended = { video: work.video, analysis, result, startedAt, processingMs, claims: claim.fence };
  const usage = await renderUsage(podMeter, ended);
  const accepted = await retryWhile(isDatabaseUnavailable, signal, () =>
    completeRender(db, claim, { outputKey: key, usage }),
  );
  const inputs = { video: video.from, audio: audio.from };
  const measured = { engine, inputs, track, features, result, usage, fetchMs, uploadMs };
  if (accepted) metrics.rendered(measured);
  if (accepted && features) {
    await keepAdded(tools, context, features, { frames: result.featuresAdded, expiresAt });
  }
  return { accepted, facts: renderFacts(measured, { pack, syncMode }) };
}

/** How long a finished output waits for an unavailable store; other jobs could use the slot. */
const UPLOAD_PATIENCE_MS = 120_000;

/** Uploads an output file, retrying while the store is unavailable. Rejects with StorageFailed. */
async function storeOutput(
  { storage }: Pick<JobTools, 'storage'>,
  signal: AbortSignal,
  { key, file }: { readonly key: string; readonly file: string },
): Promise<void> {
  const upload = () => storage.put(key, { file }, { contentType: 'video/mp4', signal });
  await transferring(() =>
    withController({ signal, ms: UPLOAD_PATIENCE_MS }, (patience) =>
      retryWhile(isStorageUnavailable, patience.signal, upload),
    ),
  );
}

interface EndedRender {
  readonly video: AssetRow;
  /** The analysis made by this job; null when it used an existing track. */
  readonly analysis: AnalyzeResult | null;
  readonly result: RenderResult;
  readonly startedAt: Date;
  /** By a monotonic clock, because it is billed. */
  readonly processingMs: number;
  /** How often the job was claimed, this time included. */
  readonly claims: number;
}

/** What a render that ends now has used since its claim. Never rejects: unavailable measurements are null. */
async function renderUsage(podMeter: PodMeter, ended: EndedRender): Promise<MeasuredUsage> {
  const { video, analysis, result, startedAt, processingMs, claims } = ended;
  const endedAt = new Date(startedAt.getTime() + processingMs);
  const gpuInferenceMs = gpuTime(analysis, result);
  return {
    input_video_seconds: video.durationSeconds,
    input_audio_seconds: result.inputAudioSeconds,
    output_seconds: result.outputSeconds,
    analyzed_frames: analysis?.frames ?? 0,
    rendered_frames: result.renderedFrames,
    ...(await podMeter.measure({ startedAt, endedAt, claims, gpuInferenceMs })),
    processing_ms: processingMs,
  };
}

/** Milliseconds on a GPU over all parts of the job; null when none was used. */
function gpuTime(...parts: ({ readonly gpuInferenceMs: number | null } | null)[]): number | null {
  const measured = parts.flatMap((part) => part?.gpuInferenceMs ?? []);
  return measured.length === 0 ? null : measured.reduce((sum, ms) => sum + ms, 0);
}

/** The fields about the render in its job's log line. */
function renderFacts(
  { engine, inputs, track, features, result, usage }: MeasuredRender,
  { pack, syncMode }: { readonly pack: Pick<UsablePack, 'version'>; readonly syncMode: SyncMode },
): LogFields {
  const { analysis } = track;
  return {
    engine,
    pack: pack.version,
    sync_mode: syncMode,
    video_input: inputs.video,
    audio_input: inputs.audio,
    face_track: track.from,
    features_known: features?.frames ?? 0,
    features_added: result.featuresAdded,
    detector_runs: (analysis?.detectorRuns ?? 0) + result.detectorRuns,
    codecs_replaced: [...(analysis?.replacedCodecs ?? []), ...result.replacedCodecs],
    width: result.width,
    height: result.height,
    usage,
    quality: result.quality,
    timings: result.timings,
  };
}
