import { type SyncMode } from '@lipsync/contract';
import { audioPlan, outputFrameCount, sourceFrameIndex } from '@lipsync/domain';
import { type FaceTrack, type Recording } from '@lipsync/lipsync';
import {
  AUDIO_SAMPLE_RATE,
  type AudioStream,
  type Binaries,
  frameColor,
  type FrameEncoder,
  type FrameSource,
  openEncoder,
  openFrameSource,
  recordAudio,
  type VideoStream,
} from '@lipsync/media';
import { type OutputQuality, type RenderResult, type RenderTask } from '../../protocol/messages';
import { type EngineClip, type FrameFeatures, type LipSyncEngine } from '../engines/engine';
import { gpuInferenceMs, type Job, MEDIA_DEADLINE_MS, type StageClock, type TaskProgress } from '../job';
import { audioOf, pictureFormat, readTrack, videoOf } from '../local-media';
import { createQualityProbe, createUnfailingProbe, type UnfailingProbe } from '../quality/quality-probe';
import { NoFaceDetected } from '../task-failure';
import { openFeatures } from './feature-file';
import { createFramePool, type Frame, frameBudget } from './frame-buffers';
import { renderPass } from './render-pass';
import { openSpeechFile, type SpeechFile } from './speech-file';

/** Runs a render: one engine over one video whose face track is known. */
export async function renderVideo(task: RenderTask, job: Job): Promise<RenderResult> {
  const speech = openSpeechFile(task.outputPath);
  try {
    return await renderSpoken(task, job, speech);
  } finally {
    speech.close();
  }
}

async function renderSpoken(task: RenderTask, job: Job, speech: SpeechFile): Promise<RenderResult> {
  const { binaries, clock, progress, signal } = job;
  progress.loading();
  const loading = clock.during('load', () => job.models.engine(task.engine, task.pack));
  const inspecting = videoOf(task.videoPath, job);
  const listening = audioOf(task.audioPath, job);
  const hearing = clock.during('audio', () =>
    recordAudio(binaries, task.audioPath, speech.descriptor, { deadlineMs: MEDIA_DEADLINE_MS, signal }),
  );
  // Whichever of them fails, nothing of this task may continue when the next one starts.
  await Promise.allSettled([loading, inspecting, listening, hearing]);
  const engine = await loading;
  const video = await inspecting;
  const audioStream = await listening;
  await hearing;
  const audio = speech.recording();
  const track = await readTrack(task.faceTrackPath, video);

  let engineGpuMs: number | null = null;
  let graphFailed = false;
  const judge = async (probe: UnfailingProbe): Promise<OutputQuality> => {
    // The quality probe's graphs count towards neither the engine's time nor the customer's usage.
    clock.add('infer', job.inferMs());
    engineGpuMs = gpuInferenceMs(job);
    const quality = await clock.during('quality', () =>
      probe.judge(() => job.models.analyzer(task.analyzer)),
    );
    graphFailed = probe.graphFailed();
    return quality;
  };
  const features = openFeatures(task.featuresPath, engine.features, track);
  let rendered: RenderedClip;
  try {
    const { videoPath, audioPath, outputPath, syncMode } = task;
    rendered = await renderClip(
      { videoPath, audioPath, outputPath, syncMode, video, audioStream, audio, track, features },
      { binaries, engine, progress, clock, signal, deadlineMs: MEDIA_DEADLINE_MS, judge },
    );
  } finally {
    features.close();
  }
  const { outputFrames, quality } = rendered;
  return {
    type: 'render',
    inputAudioSeconds: audio.length / AUDIO_SAMPLE_RATE,
    outputSeconds: outputFrames / track.fps,
    width: track.width,
    height: track.height,
    renderedFrames: outputFrames,
    featuresAdded: features.added(),
    detectorRuns: job.detectorRuns(),
    replacedCodecs: job.replacedCodecs(),
    gpuInferenceMs: engineGpuMs,
    graphFailed,
    quality,
    timings: clock.timings(),
  };
}

/** A probed video and speech track, ready to be joined. */
interface RenderClip {
  readonly videoPath: string;
  readonly video: VideoStream;
  readonly audioPath: string;
  readonly audioStream: AudioStream;
  /** The whole speech at 16 kHz. */
  readonly audio: Recording;
  readonly track: FaceTrack;
  readonly syncMode: SyncMode;
  /** Features already known of the source frames; the engine adds what it computes. */
  readonly features: FrameFeatures;
  readonly outputPath: string;
}

interface RenderTools {
  readonly binaries: Binaries;
  readonly engine: LipSyncEngine;
  readonly progress: TaskProgress;
  readonly clock: StageClock;
  readonly signal: AbortSignal;
  /** Wall-clock limit of the decoder and of the encoder, in milliseconds. */
  readonly deadlineMs: number;
  /**
   * Judges the result from the probe's observations, while the encoder finishes. Never rejects: the render has
   * succeeded.
   */
  judge(probe: UnfailingProbe): Promise<OutputQuality>;
}

interface RenderedClip {
  /** Frames of the output. */
  readonly outputFrames: number;
  readonly quality: OutputQuality;
}

/**
 * Renders a clip: the frames that the sync mode's timeline needs, with new mouths, encoded once together with the new
 * speech. The written output is unusable when it rejects. Rejects with NoFaceDetected when the output has no mouth to
 * move.
 */
async function renderClip(clip: RenderClip, tools: RenderTools): Promise<RenderedClip> {
  const { binaries, clock, progress, deadlineMs } = tools;
  const failed = new AbortController();
  const signal = AbortSignal.any([tools.signal, failed.signal]);
  const audioSeconds = clip.audio.length / AUDIO_SAMPLE_RATE;
  const videoFrames = clip.track.frames;
  const outputFrames = outputFrameCount(clip.syncMode, videoFrames, audioSeconds);
  const sources = Array.from({ length: outputFrames }, (_, i) =>
    sourceFrameIndex(clip.syncMode, i, { videoFrames, outputFrames }),
  );
  // A track may cover more than this output shows: the whole video if that is prepared, otherwise some frames ahead.
  if (!sources.some((source) => clip.track.found[source] === 1))
    throw new NoFaceDetected('no frame of the output shows a face');

  const format = pictureFormat(clip.video);
  const probe = createUnfailingProbe(
    createQualityProbe({ track: clip.track, audio: clip.audio, sources, format }),
  );
  const openSource = (): FrameSource =>
    openFrameSource(binaries, clip.videoPath, clip.video, sources, { deadlineMs, signal });

  const source = openSource();
  let engineClip: EngineClip | undefined;
  let encoder: FrameEncoder | undefined;
  try {
    // Decoder and encoder start while the engine processes the speech.
    const writing = (encoder = openEncoder(
      binaries,
      {
        outputPath: clip.outputPath,
        width: source.width,
        height: source.height,
        frames: outputFrames,
        color: frameColor(clip.video),
        pixelAspect: clip.video.pixelAspect,
        audio: {
          path: clip.audioPath,
          stream: clip.audioStream,
          ...audioPlan(clip.syncMode, { videoFrames, audioSeconds }),
        },
      },
      { deadlineMs, signal },
    ));
    // Starting the decoder takes turns of the event loop, which processing the speech is about to block.
    await source.started;
    const opened = (engineClip = await clock.during('audio', () =>
      tools.engine.open({
        track: clip.track,
        audio: clip.audio,
        sources,
        format,
        features: clip.features,
        openFrames: openSource,
        signal,
      }),
    ));
    const faces = await renderPass({
      clip: opened,
      observer: probe,
      outputFrames,
      pool: createFramePool(newFrames(frameBudget(opened.batchSize, source.frameBytes), source.frameBytes)),
      readFrame: (frame) => readFrame(source, frame),
      writeFrame: (frame) => writing.write(frame),
      onWritten: (frames) => progress.rendered(frames, outputFrames),
      signal,
      giveUp: (reason) => failed.abort(reason),
      clock,
    });
    // A few pixels are enough for detection, but not for rendering a mouth.
    if (faces === 0) throw new NoFaceDetected('no face of the output can be rendered');
    progress.encoding();
    const finishing = clock.during('encode', () => writing.finish());
    const judging = tools.judge(probe);
    await Promise.allSettled([finishing, judging]);
    await finishing;
    return { outputFrames, quality: await judging };
  } finally {
    await Promise.all([engineClip?.close(), source.close(), encoder?.abort()]);
  }
}

function newFrames(count: number, bytes: number): Frame[] {
  return Array.from({ length: count }, () => new Uint8Array(bytes));
}

/** The timeline needs exactly the frames that were counted when the track was made. */
async function readFrame(source: FrameSource, frame: Uint8Array): Promise<void> {
  if (!(await source.readInto(frame))) throw new Error('the video ended before its timeline');
}
