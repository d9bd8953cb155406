import { join } from 'node:path';
import { completeAnalyze, loadAnalyzeWork } from '@lipsync/db';
import { faceTrackKey } from '@lipsync/storage';
import { insist, type JobResult } from '@lipsync/worker';
import { InferenceFailure } from '../host/inference-error';
import { fetchAsset } from './fetch-asset';
import { type JobContext, type JobTools } from './job-context';
import { transferring } from './job-errors';

/** A preparation: the video's face track and its measures, stored for the renders that will name it. */
export async function runAnalyze(tools: JobTools, context: JobContext): Promise<JobResult> {
  const { claim, folder, host, signal, report } = context;
  const { db, storage, packs } = tools;
  const preparationId = claim.preparationId ?? '';
  const work = await loadAnalyzeWork(db, preparationId);
  if (!packs.analyzer) throw new InferenceFailure('engine_unavailable', 'no pack for the face analyser');
  report('analyzing', 0);
  const video = await fetchAsset(tools, work.video, folder, 'video');
  signal.throwIfAborted();

  const trackPath = join(folder, 'face-track.bin');
  const result = await host.analyze(
    {
      jobId: claim.jobId,
      analyzerPackDir: packs.analyzer.dir,
      videoPath: video.path,
      videoSeconds: work.video.durationSeconds,
      trackPath,
    },
    { signal, onProgress: (_stage, percent) => report('analyzing', percent) },
  );

  report('finalizing', 0);
  const trackKey = faceTrackKey(preparationId, claim.fence);
  await transferring(() =>
    storage.put(trackKey, { file: trackPath }, { contentType: 'application/octet-stream', signal }),
  );
  const { version, analyzerVersion, frames, fps, width, height, durationSeconds, timings } = result;
  const measures = { version, analyzerVersion, frames, fps, width, height, durationSeconds };
  const accepted = await insist(signal, () => completeAnalyze(db, claim, { ...measures, trackKey }));
  return {
    accepted,
    facts: { pack: packs.analyzer.version, video_input: video.from, ...measures, timings },
  };
}
