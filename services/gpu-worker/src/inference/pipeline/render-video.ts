import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOf, type Timeline, timelineOf } from '@lipsync/domain';
import {
  allEnded,
  type EngineClip,
  type FaceTrack,
  type FrameFeatures,
  type LipSyncEngine,
  type MouthExemplars,
  type Recording,
  type RunModel,
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
  /** What is under way beside the pictures. Whoever needs it awaits it, and nothing of it may continue after this task. */
  const begun: Promise<unknown>[] = [];
  const begin = <T>(work: Promise<T>): Promise<T> => {
    begun.push(Promise.allSettled([work]));
    return work;
  };
  let ahead: FrameReader | undefined;
  try {
    job.progress.loading();
    const recorded = begin(record(task, job, speech));
    const video = await videoOf(task.videoPath, job, task.video);
    // A decoder takes tens of milliseconds to start, several times as long on a card.
    ahead = openFramesAhead(task.videoPath, video, job);
    const clip = await loadClip(task, job, video);
    // Whoever probed the sound has counted its samples: what the output shows is known before it is decoded.
    const audioSeconds = task.audio?.durationSeconds ?? secondsOf(await recorded);
    const timeline = timelineOf(task.syncMode, clip.track.clock, audioSeconds);
    const mouths = begin(mouthsOf(task, job, clip, timeline));
    const voice = begin(recorded.then((recording) => voiceOf(recording, job, clip.analyzer)));
    const features = openFeatures(task.featuresPath, clip.engine.features, clip.track);
    let rendered: RenderedClip;
    try {
      rendered = await renderClip(task, job, {
        ...{ ...clip, timeline, voice, mouths, features, ahead },
        giveUp: (why) => failed.abort(why),
      });
    } finally {
      features.close();
    }
    const { width, height } = clip.track;
    return {
      type: 'render',
      inputAudioSeconds: secondsOf(await recorded),
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
    await Promise.all([...begun, ahead?.close()]);
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

/** The clip's own mouths, if its engine wants them. */
async function mouthsOf(
  { videoPath, videoKey }: RenderTask,
  job: Job,
  { engine, track, video }: LoadedClip,
  { sources }: Timeline,
): Promise<MouthExemplars[]> {
  if (!engine.wantsExemplars) return [];
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
  { clock, signal }: Job,
  { run }: LoadedAnalyzer,
): Promise<Recording> {
  const runUnlessStopped: RunModel = (...call) => {
    signal.throwIfAborted();
    return run(...call);
  };
  return voiceOnly(recording, await clock.during('audio', () => voiceActivity(recording, runUnlessStopped)));
}

interface OpenedClip extends LoadedClip {
  readonly timeline: Timeline;
  /** See `voiceOf`. */
  readonly voice: Promise<Recording>;
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
 * Renders the frames that the sync mode's timeline needs, with new mouths, encoded once together with the new speech. Only
 * what depends on the speech waits for it: mouths are generated and measured when it has been heard.
 */
async function renderClip(
  task: RenderTask,
  job: Job,
  {
    engine,
    analyzer,
    video,
    audioStream,
    track,
    timeline,
    voice,
    mouths,
    features,
    ahead,
    giveUp,
  }: OpenedClip,
): Promise<RenderedClip> {
  const { binaries, clock, progress, signal } = job;
  const limits = { deadlineMs: MEDIA_DEADLINE_MS, signal };
  const { sources } = timeline;
  const outputFrames = sources.length;
  // A track may cover more than this output shows: the whole video if that is prepared, otherwise some frames ahead.
  if (!sources.some((source) => track.found[source] === 1))
    throw new NoFaceDetected('no frame of the output shows a face');

  const { depth, color, hdr } = outputFormat(video, binaries.output);
  const format = pictureFormat(video, { depth, color });
  const openOutput = (opened?: FrameReader): FrameReader =>
    openFrames(task.videoPath, video, track, sources, { binaries, signal }, opened);

  const observe = async (): Promise<QualityProbe> => {
    const audio = await voice;
    // The engine's arithmetic comes first: a graph goes on with it while this thread does that of the probe.
    await nextTurn();
    return createQualityProbe({ track, audio, sources, clock: timeline.clock, format, analyzer, signal });
  };

  const source = openOutput(ahead);
  let observer: Promise<QualityProbe> | undefined;
  let engineClip: EngineClip | undefined;
  let encoder: FrameEncoder | undefined;
  try {
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
        timecode: task.syncMode === 'remap' ? undefined : timecodeOf(video, timeline.clock),
        pixelAspect: video.pixelAspect,
        audio: {
          path: task.audioPath,
          stream: audioStream,
          ...timeline.sound,
        },
      },
      limits,
    ));
    const opened = (engineClip = engine.open({
      ...{ track, mouths, sources, format, features, signal },
      audio: voice,
      clock: timeline.clock,
      openFrames: () => openOutput(),
    }));
    const observing = (observer = observe());
    const buffers = frameBudget(opened.batchSize, source.frameBytes);
    const faces = await renderPass({
      clip: opened,
      observer: observing,
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
    const probe = await observing;
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
    const [observed] = await Promise.allSettled([observer]);
    if (observed.status === 'fulfilled') await observed.value?.ended();
    await Promise.all([engineClip?.close(), source.close(), encoder?.abort()]);
  }
}
