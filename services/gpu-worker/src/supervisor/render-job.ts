import { join } from 'node:path';
import { ENGINES, SYNC_MODES } from '@lipsync/contract';
import { completeRender, isDatabaseUnavailable, loadRenderWork } from '@lipsync/db';
import { storedWord, usedVideoFrames } from '@lipsync/domain';
import { retryWhile } from '@lipsync/runtime';
import { outputKey } from '@lipsync/storage';
import { type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { allEnded } from './all-ended';
import { keepAdded, openEngineFeatures } from './engine-features';
import { fetchAsset } from './fetch-asset';
import { type JobContext, type JobTools } from './job-context';
import { obtainTrack } from './obtain-track';
import { renderFacts } from './render-facts';
import { renderUsage } from './render-usage';
import { storeOutput } from './store-output';

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
