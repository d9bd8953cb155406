import { dirname } from 'node:path';
import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { type Binaries } from './binaries';
import { frameGeometry, type FrameLayout, layoutFilter, workingRateFilter } from './frame-filters';
import { FFMPEG_GLOBAL, ffmpegInput } from './input-arguments';
import { MediaError, MediaProcessError } from './media-error';
import { startChild } from './media-child';
import { RawFrameStream } from './raw-frame-stream';
import { type VideoStream } from './stream-info';

/** A stretch of working frames reached by a seek; see `locateRange` for how the seek is chosen. */
export interface FrameRange {
  /** First and last working frame, both included. */
  readonly first: number;
  readonly last: number;
  /** Where the decoder starts, in seconds of the file's own clock; undefined: at the beginning. */
  readonly seekSeconds?: number;
  /** Time of the video's very first picture in its time base. */
  readonly firstPts: number;
}

export interface FrameReaderOptions {
  readonly layout: FrameLayout;
  /** Wall clock of the whole reading, waiting for the caller included. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly range?: FrameRange;
}

export interface FrameReader {
  readonly width: number;
  readonly height: number;
  readonly frameBytes: number;
  /**
   * Copies the next frame into `target` (exactly `frameBytes` long); false after the last one. One call at a time.
   * @throws MediaError media_corrupt when decoding fails, MediaProcessError when stopped or past its deadline.
   */
  readInto(target: Uint8Array): Promise<boolean>;
  /** Ends the decoder; also right after the last frame. */
  close(): Promise<void>;
}

/** More than any accepted video can yield: stops the endless repetition that a far-away timestamp would cause. */
const MAX_FRAMES = (MEDIA_MAX_SECONDS + 2) * WORKING_FPS;

/** Starts decoding a video at 25 frames per second. It decodes ahead only as far as the pipe holds. */
export function openFrameReader(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  options: FrameReaderOptions,
): FrameReader {
  const geometry = frameGeometry(video, options.layout);
  const command: [string, ...string[]] = [binaries.ffmpeg, ...readerArguments(file, video, options)];
  const child = startChild(binaries, command, {
    folder: dirname(file),
    deadlineMs: options.deadlineMs,
    signal: options.signal,
  });
  child.stdin.end();
  const frames = new RawFrameStream(child.stdout);
  let closed = false;

  async function readInto(target: Uint8Array): Promise<boolean> {
    if (target.length !== geometry.frameBytes)
      throw new RangeError(`a frame has ${geometry.frameBytes} bytes`);
    const bytes = await frames.read(target);
    if (bytes === geometry.frameBytes) return true;
    const exit = await child.exit;
    if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
    if (exit.code !== 0 || bytes !== 0) throw new MediaError('media_corrupt', exit.stderr);
    return false;
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    child.kill();
    child.stdout.destroy();
    await child.exit;
  }

  return { ...geometry, readInto, close };
}

/** The reader's arguments after the program's name. */
export function readerArguments(file: string, video: VideoStream, options: FrameReaderOptions): string[] {
  const { range, layout } = options;
  const pixels = layoutFilter(video, layout);
  // The file's own clock and a keyframe landing keep a seek exact: frames before the range are decoded and dropped by
  // number, never by time.
  const seek =
    range === undefined
      ? []
      : [
          '-copyts',
          ...(range.seekSeconds === undefined
            ? []
            : ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', range.seekSeconds.toFixed(6)]),
        ];
  const filter =
    range === undefined
      ? `${workingRateFilter()},${pixels}`
      : `${workingRateFilter(range.firstPts)},select=between(pts\\,${range.first}\\,${range.last}),${pixels}`;
  const count = range === undefined ? MAX_FRAMES : range.last - range.first + 1;
  return [
    ...FFMPEG_GLOBAL,
    ...ffmpegInput(file, seek),
    ...['-map', '0:V:0', '-vf', filter, '-fps_mode', 'passthrough', '-frames:v', String(count)],
    ...['-f', 'rawvideo', 'pipe:1'],
  ];
}
