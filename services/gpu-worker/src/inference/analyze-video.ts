import { type AnalyzeResult, type AnalyzeTask } from '../protocol/messages';
import { LOOK_AHEAD_FRAMES } from './analyzer/build-track';
import { encodeFeatures } from './encode-features';
import { gpuInferenceMs, type Job, MEDIA_DEADLINE_MS } from './job';
import { videoOf } from './local-media';
import { analysePass, type VideoAnalysis } from './pipeline/analyse-pass';
import { NoFaceDetected } from './pipeline/task-failure';
import { readTrack } from './stored-track';
import { encodeFaceTrack } from '@lipsync/engines';
import { type VideoStream } from '@lipsync/media';
import { writeFile } from 'node:fs/promises';

/**
 * Runs an analysis: the face track of a video, and the features that engines keep of it if requested. Rejects with
 * NoFaceDetected when none of the examined frames shows a face.
 */
export async function analyzeVideo(task: AnalyzeTask, job: Job): Promise<AnalyzeResult> {
  const { clock, progress } = job;
  const { engines = [], videoPath } = task;
  const video = await videoOf(videoPath, job);
  // Without engines the analysis is all of the work; with a reused track it is none of it.
  const analysisShare = engines.length === 0 ? 1 : task.reuseTrack ? 0 : 0.5;
  progress.loading();
  const { track, complete } = await trackOf(task, video, job, (part) =>
    progress.preparing(part * analysisShare),
  );
  const { frames } = track;
  const settledFrames = complete ? frames : frames - LOOK_AHEAD_FRAMES;

  const features = await encodeFeatures(
    {
      engines,
      videoPath,
      video,
      track,
      settledFrames,
      onProgress: (part) => progress.preparing(analysisShare + part * (1 - analysisShare)),
    },
    job,
  );
  clock.add('infer', job.inferMs());
  return {
    type: 'analyze',
    frames,
    complete,
    settledFrames,
    featuresAdded: features.added,
    featuresFailed: features.failed,
    detectorRuns: job.detectorRuns(),
    replacedCodecs: job.replacedCodecs(),
    gpuInferenceMs: gpuInferenceMs(job),
    graphFailed: features.graphFailed,
    timings: clock.timings(),
  };
}

async function trackOf(
  task: AnalyzeTask,
  video: VideoStream,
  { binaries, models, clock, signal }: Job,
  onProgress: (part: number) => void,
): Promise<VideoAnalysis> {
  if (task.reuseTrack) return { track: await readTrack(task.trackPath, video), complete: true };
  const analyzer = await clock.during('load', () => models.analyzer(task.analyzer));
  const analysis = await clock.during('analyse', () =>
    analysePass({
      binaries,
      analyzer,
      videoPath: task.videoPath,
      video,
      videoSeconds: task.videoSeconds,
      wantedFrames: task.wantedFrames ?? Infinity,
      onProgress,
      signal,
      deadlineMs: MEDIA_DEADLINE_MS,
    }),
  );
  if (!analysis.track.found.includes(1)) throw new NoFaceDetected('no frame shows a face');
  await writeFile(task.trackPath, encodeFaceTrack(analysis.track));
  clock.sampleMemory();
  return analysis;
}
