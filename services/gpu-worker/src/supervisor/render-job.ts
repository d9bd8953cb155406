import { join } from 'node:path';
import { ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { completeRender, isDatabaseUnavailable, loadRenderWork } from '@lipsync/db';
import { type MeasuredUsage, parseEnum, usedVideoSeconds, usualRate } from '@lipsync/domain';
import { allEnded } from '@lipsync/engines';
import { readStoredStream } from '@lipsync/media';
import { type LogFields, retryWhile, withController } from '@lipsync/runtime';
import { isStorageUnavailable, outputKey } from '@lipsync/storage';
import { type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { openEngineFeatures, saveAddedFeatures } from './cached-features';
import { obtainTrack } from './face-track';
import { fetchAsset, type GpuJob, type JobDeps, transferring } from './gpu-job';
import { type Marking } from './output-marks';
import { analysisTimes, graphMs, renderTimes } from './slot-time';
import { type MeasuredRender } from './work-metrics';

/** Percentage at which the upload begins, on the engine's own scale. */
const UPLOADING_PERCENT = 95;

/** How long a finished output waits for an unavailable store; other jobs could use the slot. */
const UPLOAD_PATIENCE_MS = 120_000;

/** One engine's share of a render: inputs → face track → inference → upload → the finish transaction. */
export async function runRender(deps: JobDeps, job: GpuJob): Promise<JobResult> {
  const { claim, host, slotTime, signal, report, span } = job;
  const { db, packs, marks, metrics, logger } = deps;
  const startedAt = new Date();
  const began = performance.now();
  report('loading_model', 0);
  const runId = claim.engineRunId ?? '';
  const work = await loadRenderWork(db, runId);
  const engine = parseEnum(ENGINES, work.run.engine, 'an engine');
  const syncMode = parseEnum(SYNC_MODES, work.render.syncMode, 'a sync mode');
  const { analyzer } = packs;
  const pack = packs.engines.get(engine);
  if (!pack || !analyzer) throw new InferenceFailure('engine_unavailable', `no pack for ${engine}`);
  const { expiresAt } = work.render;
  await marks.check();

  const fetching = performance.now();
  const [video, audio] = await span.during('fetch', () =>
    allEnded([fetchAsset(deps, job, work.video, 'video'), fetchAsset(deps, job, work.audio, 'audio')]),
  );
  const fetchMs = performance.now() - fetching;
  signal.throwIfAborted();
  const wantedSeconds = usedVideoSeconds(syncMode, work.audio.durationSeconds);
  const track = await span.during('analyze', () =>
    obtainTrack(deps, job, {
      video: work.video,
      videoPath: video.path,
      analyzer,
      wantedSeconds,
      preparation: work.preparation,
      expiresAt,
      onProgress: (percent) => report('preparing', percent),
    }),
  );
  const features = await openEngineFeatures(deps, job, {
    engine,
    pack,
    video: work.video,
    track: track.track,
    readSeconds: wantedSeconds,
    expiresAt,
  });

  const outputPath = join(job.folder, 'output.mp4');
  const { customerId, sha256 } = work.video;
  const result = await span.during('render', () =>
    host.render(
      {
        jobId: claim.jobId,
        engine,
        pack,
        analyzer,
        videoPath: video.path,
        audioPath: audio.path,
        ...(sha256 === null ? {} : { videoKey: `${customerId}/${sha256}` }),
        ...readStoredStream(work.video.stream),
        ...readStoredStream(work.audio.stream),
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
  const signing = performance.now();
  const marking = await span.during('sign', () =>
    marks.mark(outputPath, {
      source: video.path,
      videoSha256: video.sha256,
      voiceSha256: audio.sha256,
      agent: { name: engine, version: pack.version },
      when: new Date(),
    }),
  );
  const signMs = marking === 'off' ? 0 : performance.now() - signing;
  signal.throwIfAborted();
  const key = outputKey(runId, claim.fence);
  const uploading = performance.now();
  await span.during('upload', () => storeOutput(deps, signal, key, outputPath));
  const uploadMs = performance.now() - uploading;

  // By a monotonic clock, because it is billed.
  const processingMs = Math.round(performance.now() - began);
  const endedAt = new Date(startedAt.getTime() + processingMs);
  const gpuInferenceMs = sumOfKnown(track.analysis?.gpuInferenceMs, result.gpuInferenceMs);
  const { outputSeconds } = result;
  const run = { engine, outputSeconds, startedAt, endedAt, claims: claim.fence, gpuInferenceMs };
  const usage: MeasuredUsage = {
    input_video_seconds: work.video.durationSeconds,
    input_audio_seconds: result.inputAudioSeconds,
    output_seconds: outputSeconds,
    analyzed_frames: track.analysis?.frames ?? 0,
    rendered_frames: result.renderedFrames,
    ...(await deps.podMeter.measure(run)),
    processing_ms: processingMs,
  };
  const accepted = await retryWhile(isDatabaseUnavailable, signal, () =>
    completeRender(db, claim, { outputKey: key, usage }),
  );
  const inputs = { video: video.from, audio: audio.from };
  const measured = { engine, inputs, track, features, result, usage, fetchMs, signMs, uploadMs };
  if (accepted) {
    metrics.rendered(measured);
    const { analysis } = track;
    slotTime.spent(
      { files: fetchMs + signMs + uploadMs },
      renderTimes(result),
      ...(analysis ? [analysisTimes(analysis)] : []),
    );
  }
  if (accepted && features) {
    const seconds = result.featuresAdded / usualRate(track.track.clock);
    await saveAddedFeatures(deps, job, features, { seconds, expiresAt });
  }
  return { accepted, facts: logFields(measured, { pack: pack.version, syncMode, marking }) };
}

/** Uploads an output file, retrying while the store is unavailable. Rejects with StorageFailed. */
async function storeOutput(
  { storage }: JobDeps,
  signal: AbortSignal,
  key: string,
  file: string,
): Promise<void> {
  const upload = () => storage.put(key, { file }, { contentType: 'video/mp4', signal });
  await transferring(() =>
    withController({ signal, ms: UPLOAD_PATIENCE_MS }, (patience) =>
      retryWhile(isStorageUnavailable, patience.signal, upload),
    ),
  );
}

/** Null when none is known. */
function sumOfKnown(...values: (number | null | undefined)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** The fields about the render in its job's log line. */
function logFields(
  { engine, inputs, track, features, result, usage }: MeasuredRender,
  about: { readonly pack: string; readonly syncMode: SyncMode; readonly marking: Marking },
): LogFields {
  const { analysis } = track;
  return {
    engine,
    pack: about.pack,
    sync_mode: about.syncMode,
    content_credentials: about.marking,
    video_input: inputs.video,
    audio_input: inputs.audio,
    face_track: track.from,
    features_known_seconds: features?.seconds ?? 0,
    features_added: result.featuresAdded,
    detector_runs: (analysis?.detectorRuns ?? 0) + result.detectorRuns,
    codecs_replaced: [...(analysis?.replacedCodecs ?? []), ...result.replacedCodecs],
    width: result.width,
    height: result.height,
    usage,
    quality: result.quality,
    ...(analysis ? { analysis_timings: analysis.timings } : {}),
    timings: result.timings,
    // How much of the job the card was used, or the CPU in its place.
    graph_share: graphMs(result) / (usage.processing_ms ?? NaN),
  };
}
