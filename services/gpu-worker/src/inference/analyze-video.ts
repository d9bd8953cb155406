import { writeFile } from 'node:fs/promises';
import { encodeFaceTrack } from '@lipsync/lipsync';
import { type VideoStream } from '@lipsync/media';
import { LOOK_AHEAD_FRAMES } from './analyzer/build-track';
import { gpuInferenceMs, type Job, MEDIA_DEADLINE_MS } from './job';
import { videoOf } from './local-media';
import { analysePass, type VideoAnalysis } from './pipeline/analyse-pass';
import { type AnalyzeResult, type AnalyzeTask } from './protocol';
import { readTrack } from './stored-track';
import { NoFaceDetected } from './task-failure';

/** Carries out an analysis: the face track of a video. Rejects with NoFaceDetected when no frame looked at shows one. */
export async function analyzeVideo(task: AnalyzeTask, job: Job): Promise<AnalyzeResult> {
  const video = await videoOf(task.videoPath, job);
  const { track, complete } = await trackOf(task, video, job);
  const { version, analyzerVersion, frames, fps, width, height } = track;
  job.clock.add('infer', job.inferMs());
  return {
    type: 'analyze',
    version,
    analyzerVersion,
    frames,
    fps,
    width,
    height,
    durationSeconds: frames / fps,
    complete,
    settledFrames: complete ? frames : frames - LOOK_AHEAD_FRAMES,
    gpuInferenceMs: gpuInferenceMs(job),
    timings: job.clock.timings(),
  };
}

async function trackOf(task: AnalyzeTask, video: VideoStream, job: Job): Promise<VideoAnalysis> {
  if (task.reuseTrackPath !== undefined) {
    return { track: await readTrack(task.reuseTrackPath, video), complete: true };
  }
  const { binaries, models, clock, progress, signal } = job;
  progress.loading();
  const analyzer = await clock.during('load', () => models.analyzer(task.analyzerPackDir));
  const analysis = await clock.during('analyse', () =>
    analysePass({
      binaries,
      analyzer,
      videoPath: task.videoPath,
      video,
      videoSeconds: task.videoSeconds,
      wantedFrames: task.wantedFrames ?? Infinity,
      progress,
      signal,
      deadlineMs: MEDIA_DEADLINE_MS,
    }),
  );
  if (!analysis.track.found.includes(1)) throw new NoFaceDetected('no frame shows a face');
  await writeFile(task.trackPath, encodeFaceTrack(analysis.track));
  clock.sampleMemory();
  return analysis;
}
