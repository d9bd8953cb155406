import { analysisSize } from '../analyzer/analysis-size';
import { analyzeFaces } from '../analyzer/analyze-faces';
import { LOOK_AHEAD_FRAMES } from '../analyzer/build-track';
import { type LoadedAnalyzer } from '../analyzer/loaded-analyzer';
import { readAhead } from './read-ahead';
import { WORKING_FPS } from '@lipsync/domain';
import { type FaceTrack } from '@lipsync/engines';
import { type RgbPicture } from '@lipsync/kernels';
import {
  type Binaries,
  type FrameReader,
  frameSize,
  openFrameReader,
  type VideoStream,
} from '@lipsync/media';

export interface AnalysePass {
  readonly binaries: Binaries;
  readonly analyzer: LoadedAnalyzer;
  readonly videoPath: string;
  readonly video: VideoStream;
  /** Length of the video, if known, for the progress. */
  readonly videoSeconds: number | undefined;
  /**
   * Number of frames needed, from the start; Infinity for all. A few more are analysed, so that the results for these
   * are the same as if all frames had been.
   */
  readonly wantedFrames: number;
  /** Called after every frame with the approximate share of the pass that is done, 0 to 1. */
  readonly onProgress: (part: number) => void;
  /** Checked after every frame. */
  readonly signal: AbortSignal;
  /** Wall-clock limit of the decoder in milliseconds. */
  readonly deadlineMs: number;
}

export interface VideoAnalysis {
  /** Position of the main face in every frame analysed. */
  readonly track: FaceTrack;
  /** Whether the whole video was analysed. */
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

/** The first `most` pictures in order; calls `onEnd` when the stream ends. */
async function* picturesOf(reader: FrameReader, most: number, onEnd: () => void): AsyncGenerator<RgbPicture> {
  const { width, height } = reader;
  for await (const data of readAhead(reader, most, onEnd)) yield { width, height, data };
}
