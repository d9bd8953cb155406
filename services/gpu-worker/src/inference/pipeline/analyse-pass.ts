import { WORKING_FPS } from '@lipsync/domain';
import { type FaceTrack, type RgbPicture } from '@lipsync/lipsync';
import {
  frameSize,
  openFrameReader,
  type Binaries,
  type FrameReader,
  type VideoStream,
} from '@lipsync/media';
import { analysisSize } from '../analyzer/analysis-size';
import { analyzeFaces } from '../analyzer/analyze-faces';
import { LOOK_AHEAD_FRAMES } from '../analyzer/build-track';
import { type LoadedAnalyzer } from '../analyzer/loaded-analyzer';
import { readAhead } from './read-ahead';

export interface AnalysePass {
  readonly binaries: Binaries;
  readonly analyzer: LoadedAnalyzer;
  readonly videoPath: string;
  readonly video: VideoStream;
  /** Length of the video if it is known: what the progress is measured against. */
  readonly videoSeconds: number | undefined;
  /**
   * How many frames from the start somebody wants to know about; Infinity for all. A few more are looked at, so that
   * those come out as if all had been.
   */
  readonly wantedFrames: number;
  /** Called after every frame with about which part of the pass is done, 0 to 1. */
  readonly onProgress: (part: number) => void;
  /** Looked at after every frame. */
  readonly signal: AbortSignal;
  /** Wall clock of the decoder, milliseconds. */
  readonly deadlineMs: number;
}

export interface VideoAnalysis {
  /** Where the main face is in every frame looked at. */
  readonly track: FaceTrack;
  /** Whether that was the whole video. */
  readonly complete: boolean;
}

/** Goes through the video once, at reduced size and in its shown shape. */
export async function analysePass(pass: AnalysePass): Promise<VideoAnalysis> {
  const { binaries, analyzer, video, signal, deadlineMs } = pass;
  const source = frameSize(video);
  const size = analysisSize(source, video.pixelAspect);
  const layout = { format: 'rgb24', ...size } as const;
  const reader = openFrameReader(binaries, pass.videoPath, video, { layout, deadlineMs, signal });
  const mostFrames = pass.wantedFrames + LOOK_AHEAD_FRAMES;
  const expectedFrames = Math.min((pass.videoSeconds ?? Infinity) * WORKING_FPS, mostFrames);
  let complete = false;
  try {
    const track = await analyzeFaces({
      frames: picturesOf(reader, mostFrames, () => (complete = true)),
      source,
      params: analyzer.params,
      analyzerVersion: analyzer.version,
      run: analyzer.run,
      onFrame: (framesDone) => {
        signal.throwIfAborted();
        pass.onProgress(Math.min(1, framesDone / Math.max(1, expectedFrames)));
      },
    });
    return { track, complete };
  } finally {
    await reader.close();
  }
}

/** The first `most` pictures in order; `onEnd` is called when there are no more. */
async function* picturesOf(reader: FrameReader, most: number, onEnd: () => void): AsyncGenerator<RgbPicture> {
  const { width, height } = reader;
  for await (const data of readAhead(reader, most, onEnd)) yield { width, height, data };
}
