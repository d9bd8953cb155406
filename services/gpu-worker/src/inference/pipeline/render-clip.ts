import { type OutputQuality } from '../../protocol/output-quality';
import { createQualityProbe } from '../quality/quality-probe';
import { createUnfailingProbe, type UnfailingProbe } from '../quality/unfailing-probe';
import { frameBudget } from './frame-budget';
import { createFramePool, type Frame } from './frame-pool';
import { pictureFormat } from './picture-format';
import { renderPass } from './render-pass';
import { type StageClock } from './stage-clock';
import { NoFaceDetected } from './task-failure';
import { type TaskProgress } from './task-progress';
import { type SyncMode } from '@lipsync/contract';
import { audioPlan, outputFrameCount, sourceFrameIndex } from '@lipsync/domain';
import {
  type FaceTrack,
  type Recording,
  type EngineClip,
  type FrameFeatures,
  type LipSyncEngine,
} from '@lipsync/engines';
import {
  AUDIO_SAMPLE_RATE,
  type AudioStream,
  type Binaries,
  frameColor,
  type FrameEncoder,
  type FrameSource,
  openEncoder,
  openFrameSource,
  type VideoStream,
} from '@lipsync/media';

/** A probed video and speech track, ready to be joined. */
export interface RenderClip {
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

export interface RenderTools {
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

export interface RenderedClip {
  /** Frames of the output. */
  readonly outputFrames: number;
  readonly quality: OutputQuality;
}

/**
 * Renders a clip: the frames that the sync mode's timeline needs, with new mouths, encoded once together with the new
 * speech. The written output is unusable when it rejects. Rejects with NoFaceDetected when the output has no mouth to
 * move.
 */
export async function renderClip(clip: RenderClip, tools: RenderTools): Promise<RenderedClip> {
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
