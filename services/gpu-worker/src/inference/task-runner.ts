import { readFile, writeFile } from 'node:fs/promises';
import { usedVideoFrames } from '@lipsync/domain';
import { decodeFaceTrack, encodeFaceTrack, type FaceTrack } from '@lipsync/lipsync';
import {
  AUDIO_SAMPLE_RATE,
  frameSize,
  inspect,
  MediaError,
  readAudio,
  type AudioStream,
  type Binaries,
  type VideoStream,
} from '@lipsync/media';
import { type Models } from './models';
import { verifyPack } from './packs/verify-pack';
import { analysePass } from './pipeline/analyse-pass';
import { renderClip } from './pipeline/render-clip';
import { createStageClock, type StageClock } from './pipeline/stage-clock';
import { createTaskProgress, type TaskProgress } from './pipeline/task-progress';
import {
  type AnalyzeResult,
  type AnalyzeTask,
  type RenderResult,
  type RenderTask,
  type Task,
  type TaskResult,
} from './protocol';
import { type TimedSessionHost } from './sessions/session-host';
import { NoFaceDetected } from './task-failure';
import { type TaskContext } from './task-loop';

export interface TaskRunnerOptions {
  readonly host: TimedSessionHost;
  readonly models: Models;
  readonly binaries: Promise<Binaries>;
  /** Threads inside one graph. */
  readonly threads: number;
}

/** What the steps of one task share. */
interface Job {
  readonly binaries: Binaries;
  readonly models: Models;
  readonly clock: StageClock;
  readonly progress: TaskProgress;
  readonly signal: AbortSignal;
}

/** A backstop for one decoder or encoder; the limit of the job itself is the supervisor's. */
const MEDIA_DEADLINE_MS = 2 * 60 * 60 * 1000;

/** Carries out the tasks of the protocol with the files that they name. */
export function createTaskRunner(
  options: TaskRunnerOptions,
): (task: Task, context: TaskContext) => Promise<TaskResult> {
  const { host, models, threads } = options;
  return async (task, context) => {
    if (task.type === 'verify') {
      const packs = [];
      for (const packDir of task.packDirs) packs.push(await verifyPack(host, packDir, threads));
      return { type: 'verify', packs };
    }
    const job: Job = {
      binaries: await options.binaries,
      models,
      clock: createStageClock(),
      progress: createTaskProgress(context.report),
      signal: context.signal,
    };
    const inferredBefore = host.runMs();
    const inferMs = (): number => host.runMs() - inferredBefore;
    return task.type === 'render' ? runRender(task, job, inferMs) : runAnalyze(task, job, inferMs);
  };
}

async function runAnalyze(task: AnalyzeTask, job: Job, inferMs: () => number): Promise<AnalyzeResult> {
  const track = await analyse(task, await videoOf(task.videoPath, job), Infinity, job);
  await writeFile(task.outPath, encodeFaceTrack(track));
  job.clock.add('infer', inferMs());
  const { version, analyzerVersion, frames, fps, width, height, durationSeconds } = track;
  const measures = { version, analyzerVersion, frames, fps, width, height, durationSeconds };
  return { type: 'analyze', ...measures, timings: job.clock.timings() };
}

async function runRender(task: RenderTask, job: Job, inferMs: () => number): Promise<RenderResult> {
  const { binaries, clock, progress, signal } = job;
  progress.loading();
  const engine = await clock.during('load', () => job.models.engine(task.engine, task.packDir));
  const video = await videoOf(task.videoPath, job);
  const audioStream = await audioOf(task.audioPath, job);
  const audio = await clock.during('audio', () =>
    readAudio(binaries, task.audioPath, { deadlineMs: MEDIA_DEADLINE_MS, signal }),
  );
  const prepared = task.faceTrackPath;
  const audioSeconds = audio.length / AUDIO_SAMPLE_RATE;
  const track =
    prepared === undefined
      ? await analyse(task, video, usedVideoFrames(task.syncMode, audioSeconds), job)
      : await preparedTrack(prepared, video);

  // A prepared track covers the whole video, one made for this render perhaps only the beginning.
  const inputVideoSeconds =
    prepared === undefined ? (task.videoSeconds ?? track.durationSeconds) : track.durationSeconds;

  // The graphs of the analysis are counted there; from here on they are the engine's.
  const analysisMs = inferMs();
  const files = { videoPath: task.videoPath, audioPath: task.audioPath, outputPath: task.outputPath };
  const outputFrames = await renderClip(
    { ...files, video, audioStream, audio, track, syncMode: task.syncMode },
    { binaries, engine, progress, clock, signal, deadlineMs: MEDIA_DEADLINE_MS },
  );
  clock.add('infer', inferMs() - analysisMs);
  return {
    type: 'render',
    inputVideoSeconds,
    inputAudioSeconds: audioSeconds,
    outputSeconds: outputFrames / track.fps,
    width: track.width,
    height: track.height,
    analyzedFrames: prepared === undefined ? track.frames : 0,
    renderedFrames: outputFrames,
    timings: clock.timings(),
  };
}

/** The face track of a video, `wantedFrames` of it at least, in which at least one frame shows a face. */
async function analyse(
  task: { analyzerPackDir: string; videoPath: string; videoSeconds?: number },
  video: VideoStream,
  wantedFrames: number,
  { binaries, models, clock, progress, signal }: Job,
): Promise<FaceTrack> {
  progress.loading();
  const analyzer = await clock.during('load', () => models.analyzer(task.analyzerPackDir));
  const track = await clock.during('analyse', () =>
    analysePass({
      binaries,
      analyzer,
      videoPath: task.videoPath,
      video,
      videoSeconds: task.videoSeconds,
      wantedFrames,
      progress,
      signal,
      deadlineMs: MEDIA_DEADLINE_MS,
    }),
  );
  if (!track.found.includes(1)) throw new NoFaceDetected('no frame shows a face');
  clock.sampleMemory();
  return track;
}

async function preparedTrack(path: string, video: VideoStream): Promise<FaceTrack> {
  const track = decodeFaceTrack(await readFile(path));
  const { width, height } = frameSize(video);
  if (track.width !== width || track.height !== height) throw new Error('the face track is of another video');
  return track;
}

async function videoOf(path: string, { binaries, signal }: Job): Promise<VideoStream> {
  const { video } = await inspect(binaries, path, signal);
  if (!video) throw new MediaError('media_type_mismatch', 'there is no video stream');
  return video;
}

async function audioOf(path: string, { binaries, signal }: Job): Promise<AudioStream> {
  const { audio } = await inspect(binaries, path, signal);
  if (!audio) throw new MediaError('media_type_mismatch', 'there is no audio stream');
  return audio;
}
