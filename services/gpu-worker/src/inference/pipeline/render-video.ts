import { endOf, timelineOf } from '@lipsync/domain';
import {
  allEnded,
  type EngineClip,
  type FaceTrack,
  type FrameFeatures,
  type LipSyncEngine,
  type MouthExemplars,
  type Recording,
  voiceActivity,
  voiceOnly,
} from '@lipsync/engines';
import {
  AUDIO_SAMPLE_RATE,
  type AudioStream,
  type FrameEncoder,
  type FrameReader,
  openEncoder,
  outputFormat,
  recordAudio,
  timecodeOf,
  type VideoStream,
} from '@lipsync/media';
import { type RenderResult, type RenderTask } from '../../protocol/messages';
import { type LoadedAnalyzer } from '../analyzer/analyze-faces';
import { type Job, MEDIA_DEADLINE_MS } from '../job';
import {
  audioOf,
  openFrames,
  openFramesAhead,
  openSpeechFile,
  pictureFormat,
  readTrack,
  type SpeechFile,
  videoOf,
} from '../local-media';
import { createQualityProbe, type QualityProbe } from '../quality/quality-probe';
import { NoFaceDetected } from '../task-failure';
import { cutMouths } from './cut-mouths';
import { openFeatures } from './feature-file';
import { createFramePool, frameBudget } from './frame-buffers';
import { createKeepFilmed } from './keep-filmed';
import { renderPass } from './render-pass';

/**
 * Runs a render: one engine over one video whose face track is known. Rejects with NoFaceDetected when the output has
 * no mouth to move. The written output is unusable when it rejects.
 */
export async function renderVideo(task: RenderTask, given: Job): Promise<RenderResult> {
  const failed = new AbortController();
  const job = { ...given, signal: AbortSignal.any([given.signal, failed.signal]) };
  const speech = openSpeechFile(task.outputPath);
  let ahead: FrameReader | undefined;
  let mouths: Promise<MouthExemplars[]> | undefined;
  try {
    job.progress.loading();
    const video = await videoOf(task.videoPath, job, task.video);
    // A decoder takes tens of milliseconds to start, several times as long on a card: meanwhile the sound is decoded.
    ahead = openFramesAhead(task.videoPath, video, job);
    const loaded = loadClip(task, job, video);
    const recorded = record(task, job, speech);
    mouths = mouthsOf(task, job, { loaded, recorded });
    // The engine awaits them, if it comes to that.
    mouths.catch(() => undefined);
    // Whichever of them fails, nothing of this task may continue when the next one starts.
    const [loadedClip, recording] = await allEnded([loaded, recorded]);
    const clip = { ...loadedClip, recording, mouths };
    const features = openFeatures(task.featuresPath, clip.engine.features, clip.track);
    let rendered: RenderedClip;
    try {
      rendered = await renderClip(task, job, {
        ...clip,
        ahead,
        features,
        giveUp: (why) => failed.abort(why),
      });
    } finally {
      features.close();
    }
    const { width, height } = clip.track;
    return {
      type: 'render',
      inputAudioSeconds: secondsOf(clip.recording),
      width,
      height,
      ...rendered,
      featuresAdded: features.added(),
      detectorRuns: job.detectorRuns(),
      replacedCodecs: job.replacedCodecs(),
      timings: job.clock.timings(),
    };
  } finally {
    failed.abort();
    await Promise.allSettled([mouths]);
    await ahead?.close();
    speech.close();
  }
}

/** A loaded engine and analyzer, and an inspected video and speech track to join. */
interface LoadedClip {
  readonly engine: LipSyncEngine;
  readonly analyzer: LoadedAnalyzer;
  readonly video: VideoStream;
  readonly audioStream: AudioStream;
  readonly track: FaceTrack;
}

async function loadClip(task: RenderTask, job: Job, video: VideoStream): Promise<LoadedClip> {
  const { clock, models } = job;
  const [engine, analyzer, track, audioStream] = await allEnded([
    clock.during('load', () => models.engine(task.engine, task.pack)),
    clock.during('load', () => models.analyzer(task.analyzer)),
    readTrack(task.faceTrackPath, video),
    audioOf(task.audioPath, job, task.audio),
  ]);
  return { engine, analyzer, video, audioStream, track };
}

/** The whole speech at 16 kHz. */
async function record({ audioPath }: RenderTask, job: Job, speech: SpeechFile): Promise<Recording> {
  const { binaries, clock, signal } = job;
  const limits = { deadlineMs: MEDIA_DEADLINE_MS, signal };
  await clock.during('audio', () => recordAudio(binaries, audioPath, speech.descriptor, limits));
  return speech.recording();
}

/** The clip's own mouths, if its engine wants them: cut as soon as it is known how much of the video is shown. */
async function mouthsOf(
  { audio, syncMode, videoPath, videoKey }: RenderTask,
  job: Job,
  { loaded, recorded }: { readonly loaded: Promise<LoadedClip>; readonly recorded: Promise<Recording> },
): Promise<MouthExemplars[]> {
  const { engine, track, video } = await loaded;
  if (!engine.wantsExemplars) return [];
  // Whoever probed the sound has counted its samples: a decoder need not do that first.
  const audioSeconds = audio?.durationSeconds ?? secondsOf(await recorded);
  const { sources } = timelineOf(syncMode, track.clock, audioSeconds);
  const shown = sources.reduce((last, source) => Math.max(last, source), -1) + 1;
  return job.keptMouths({ videoKey, track, shown }, () =>
    job.clock.during('exemplars', () => cutMouths(videoPath, video, track, shown, job)),
  );
}

function secondsOf(recording: Recording): number {
  return recording.length / AUDIO_SAMPLE_RATE;
}

/** The speech with silence where it has no voice: mouths rest in music and noise. */
async function voiceOf(
  recording: Recording,
  { run }: LoadedAnalyzer,
  signal: AbortSignal,
): Promise<Recording> {
  const stretches = await voiceActivity(recording, (...call) => {
    signal.throwIfAborted();
    return run(...call);
  });
  return voiceOnly(recording, stretches);
}

interface OpenedClip extends LoadedClip {
  readonly recording: Recording;
  readonly mouths: Promise<MouthExemplars[]>;
  readonly features: FrameFeatures;
  /** Already decodes the video. */
  readonly ahead: FrameReader;
  /** Aborts the job's signal with the first failure. */
  readonly giveUp: (reason?: unknown) => void;
}

type RenderedClip = Pick<
  RenderResult,
  'outputSeconds' | 'renderedFrames' | 'quality' | 'graphFailed' | 'gpuInferenceMs' | 'tensorBytes'
>;

/**
 * Renders the frames that the sync mode's timeline needs, with new mouths, encoded once together with the new speech.
 */
async function renderClip(
  task: RenderTask,
  job: Job,
  { engine, analyzer, video, audioStream, recording, mouths, track, features, ahead, giveUp }: OpenedClip,
): Promise<RenderedClip> {
  const { binaries, clock, progress, signal } = job;
  const { syncMode } = task;
  const limits = { deadlineMs: MEDIA_DEADLINE_MS, signal };
  const timeline = timelineOf(syncMode, track.clock, secondsOf(recording));
  const { sources } = timeline;
  const outputFrames = sources.length;
  // A track may cover more than this output shows: the whole video if that is prepared, otherwise some frames ahead.
  if (!sources.some((source) => track.found[source] === 1))
    throw new NoFaceDetected('no frame of the output shows a face');

  const { depth, color, hdr } = outputFormat(video, binaries.output);
  const format = pictureFormat(video, { depth, color });
  const openOutput = (opened?: FrameReader): FrameReader =>
    openFrames(task.videoPath, video, track, sources, { binaries, signal }, opened);

  const source = openOutput(ahead);
  let observer: QualityProbe | undefined;
  let engineClip: EngineClip | undefined;
  let encoder: FrameEncoder | undefined;
  try {
    // The encoder starts while the speech is heard.
    const writing = (encoder = openEncoder(
      binaries,
      {
        outputPath: task.outputPath,
        width: source.width,
        height: source.height,
        depth,
        clock: timeline.clock,
        color,
        hdr,
        // A remapped video does not begin with its first picture, nor does it count as it did.
        timecode: syncMode === 'remap' ? undefined : timecodeOf(video, timeline.clock),
        pixelAspect: video.pixelAspect,
        audio: {
          path: task.audioPath,
          stream: audioStream,
          ...timeline.sound,
        },
      },
      limits,
    ));
    const audio = await clock.during('audio', () => voiceOf(recording, analyzer, signal));
    const probe = (observer = createQualityProbe({
      ...{ track, audio, sources, clock: timeline.clock, format, analyzer, signal },
    }));
    const opened = (engineClip = await clock.during('audio', () =>
      engine.open({
        track,
        mouths,
        audio,
        sources,
        clock: timeline.clock,
        format,
        features,
        openFrames: () => openOutput(),
        signal,
      }),
    ));
    const buffers = frameBudget(opened.batchSize, source.frameBytes);
    const faces = await renderPass({
      clip: opened,
      observer: probe,
      keepFilmed: createKeepFilmed({ track, sources }, format),
      outputFrames,
      pool: createFramePool(Array.from({ length: buffers }, () => new Uint8Array(source.frameBytes))),
      readFrame: async (frame) => {
        // The timeline needs exactly the frames that were counted when the track was made.
        if (!(await source.readInto(frame))) throw new Error('the video ended before its timeline');
      },
      writeFrame: (frame) => writing.write(frame),
      onWritten: (frames) => progress.rendered(frames, outputFrames),
      signal,
      giveUp,
      clock,
    });
    // A few pixels are enough for detection, but not for rendering a mouth.
    if (faces === 0) throw new NoFaceDetected('no face of the output can be rendered');

    progress.encoding();
    clock.add('infer', job.inferMs());
    const ofEngine = { gpuInferenceMs: job.gpuInferenceMs(), tensorBytes: job.tensorBytes() };
    const finishing = clock.during('finish', () => writing.finish());
    const judging = clock.during('quality', () => probe.judge());
    const [, quality] = await allEnded([finishing, judging]);
    return {
      outputSeconds: endOf(timeline.clock),
      renderedFrames: outputFrames,
      quality,
      graphFailed: probe.graphFailed(),
      ...ofEngine,
    };
  } finally {
    giveUp();
    await observer?.ended();
    await Promise.all([engineClip?.close(), source.close(), encoder?.abort()]);
  }
}
