import { writeFile } from 'node:fs/promises';
import { secondsAt } from '@lipsync/domain';
import { encodeFaceTrack, type FaceTrack } from '@lipsync/engines';
import { type ClipReader, frameSize, openClipReader, type VideoStream } from '@lipsync/media';
import { type AnalyzeResult, type AnalyzeTask } from '../../protocol/messages';
import {
  analysisSize,
  type AnalyzedFrame,
  analyzeFaces,
  type LoadedAnalyzer,
  TURN_AHEAD,
} from '../analyzer/analyze-faces';
import { secondsToSettle } from '../analyzer/build-track';
import { type Sound } from '../analyzer/lip-evidence';
import { type Job, MEDIA_DEADLINE_MS } from '../job';
import { readTrack, videoOf } from '../local-media';
import { NoFaceDetected } from '../task-failure';
import { encodeFeatures } from './encode-features';
import { readAhead } from './frame-buffers';
import { hearSoundtrack } from './hear-soundtrack';

/**
 * Runs an analysis: the face track of a video, and the features that engines cache of it if requested. Rejects with
 * NoFaceDetected when none of the examined frames shows a face.
 */
export async function analyzeVideo(task: AnalyzeTask, job: Job): Promise<AnalyzeResult> {
  const { clock, progress } = job;
  const { engines = [], videoPath } = task;
  const video = await videoOf(videoPath, job, task.video);
  // Without engines the analysis is all of the work; with a reused track it is none of it.
  const analysisShare = engines.length === 0 ? 1 : task.reuseTrack ? 0 : 0.5;
  progress.loading();
  const { track, complete, settledFrames } = await trackOf(task, video, job, (part) =>
    progress.preparing(part * analysisShare),
  );
  const { frames } = track;
  const settled = complete ? frames : settledFrames;

  const features = await encodeFeatures(
    {
      engines,
      videoPath,
      video,
      track,
      settledFrames: settled,
      onProgress: (part) => progress.preparing(analysisShare + part * (1 - analysisShare)),
    },
    job,
  );
  clock.add('infer', job.inferMs());
  return {
    type: 'analyze',
    frames,
    complete,
    settledSeconds: secondsAt(track.clock, settled),
    featuresAdded: features.added,
    featuresFailed: features.failed,
    detectorRuns: job.detectorRuns(),
    replacedCodecs: job.replacedCodecs(),
    gpuInferenceMs: job.gpuInferenceMs(),
    graphFailed: features.graphFailed,
    timings: clock.timings(),
  };
}

interface VideoAnalysis {
  /** Position of the face that speaks, or of the only one, in every frame analyzed. */
  readonly track: FaceTrack;
  /** How many of the first frames have final rows, if this is not the whole video. */
  readonly settledFrames: number;
  /** Whether the whole video was analyzed. */
  readonly complete: boolean;
}

/** `onProgress` is called with the approximate share of the analysis that is done, 0 to 1. */
async function trackOf(
  task: AnalyzeTask,
  video: VideoStream,
  job: Job,
  onProgress: (part: number) => void,
): Promise<VideoAnalysis> {
  const { models, clock } = job;
  if (task.reuseTrack) {
    const track = await readTrack(task.trackPath, video);
    return { track, complete: true, settledFrames: track.frames };
  }
  const analyzer = await clock.during('load', () => models.analyzer(task.analyzer));
  const analysis = await clock.during('analyze', () => analysisPass(task, video, job, analyzer, onProgress));
  if (!analysis.track.found.includes(1)) throw new NoFaceDetected('no frame shows a face');
  await writeFile(task.trackPath, encodeFaceTrack(analysis.track));
  clock.sampleMemory();
  return analysis;
}

/**
 * Goes through the video once, at reduced size and in its shown shape. A few frames more than wanted are analyzed, so
 * that the results for these are the same as if all frames had been.
 */
async function analysisPass(
  { videoPath, trackPath, videoSeconds, wantedSeconds = Infinity }: AnalyzeTask,
  video: VideoStream,
  job: Job,
  analyzer: LoadedAnalyzer,
  onProgress: (part: number) => void,
): Promise<VideoAnalysis> {
  const { binaries, signal } = job;
  const source = frameSize(video);
  const size = analysisSize(source, video.pixelAspect);
  const layout = { format: 'rgb24', ...size } as const;
  const untilSeconds = secondsToSettle(wantedSeconds);
  const reader = openClipReader(binaries, videoPath, video, {
    layout,
    videoSeconds,
    untilSeconds: untilSeconds + TURN_AHEAD,
    deadlineMs: MEDIA_DEADLINE_MS,
    signal,
  });
  const expectedSeconds = Math.min(videoSeconds ?? Infinity, untilSeconds);
  // Hearing takes longer than finding out that the pictures are damaged.
  const over = new AbortController();
  const hearing = { ...job, signal: AbortSignal.any([signal, over.signal]) };
  let listening: Promise<Sound | null> | undefined;
  try {
    const analysis = await analyzeFaces({
      frames: framesOf(reader),
      untilSeconds,
      clockOf: (count) => reader.framesUpTo(count).clock,
      source,
      analyzer,
      listen: () =>
        (listening = job.clock.during('hear', () =>
          hearSoundtrack(videoPath, reader.startSeconds(), trackPath, hearing, analyzer.run),
        )),
      onFrame: (framesDone) => {
        signal.throwIfAborted();
        onProgress(Math.min(1, reader.secondsAt(framesDone - 1) / expectedSeconds));
      },
    });
    // The reader is a frame ahead: it may have seen the end that the analysis stopped before.
    return { ...analysis, complete: !analysis.stopped && reader.isComplete() };
  } finally {
    over.abort();
    await Promise.allSettled([reader.close(), listening]);
  }
}

async function* framesOf(reader: ClipReader): AsyncGenerator<AnalyzedFrame> {
  const { width, height } = reader;
  let frame = 0;
  for await (const data of readAhead(reader)) {
    yield {
      picture: { width, height, data },
      seconds: reader.secondsAt(frame),
      held: reader.isHeld(frame),
    };
    frame++;
  }
}
