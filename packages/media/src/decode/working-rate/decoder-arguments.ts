import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { type VideoDecoder } from '../../ffmpeg/binaries';
import { FFMPEG_GLOBAL, ffmpegInput } from '../../ffmpeg/input-arguments';
import { exchangesSides, frameSize, isFullRange, isRgb, type VideoStream } from '../../probe/stream-info';

/** A range of working frames reached by a seek; `locateRange` explains how the seek is chosen. */
export interface FrameRange {
  /** First and last working frame, both inclusive. */
  readonly first: number;
  readonly last: number;
  /** Where the decoder starts, in seconds of the file's own clock; undefined means at the beginning. */
  readonly seekSeconds?: number;
  /** Timestamp of the video's very first picture, in the stream's time base. */
  readonly firstPts: number;
}

/** What one decoding process does. */
export interface FrameDecoding {
  readonly file: string;
  readonly video: VideoStream;
  readonly layout: FrameLayout;
  readonly decoder: VideoDecoder;
  /** Absent means all frames. */
  readonly range?: FrameRange | undefined;
  /** Rising numbers of the only working frames to deliver; the decoder ends after the last. */
  readonly only?: readonly number[] | undefined;
  /** Show the last picture for a working frame even when the video ends before half of that frame has passed. */
  readonly keepLast?: boolean;
}

/** More than any accepted video can yield: stops the endless repetition that a far-off timestamp would cause. */
const MAX_FRAMES = (MEDIA_MAX_SECONDS + 2) * WORKING_FPS;

/** The decoder's arguments after the program's name: raw working frames on standard output. */
export function decoderArguments(decoding: FrameDecoding, threads: number): string[] {
  const { video, range, only, keepLast = false } = decoding;
  const rate = workingRateFilter({ firstPts: range?.firstPts, keepLast });
  const within = range === undefined ? [] : [`select=between(pts\\,${range.first}\\,${range.last})`];
  const among = only === undefined ? [] : [`select=${only.map((frame) => `eq(pts\\,${frame})`).join('+')}`];
  const filter = [rate, ...within, ...among, layoutFilter(video, decoding.layout)].join(',');
  const count = only?.length ?? (range === undefined ? MAX_FRAMES : range.last - range.first + 1);
  const card = decoding.decoder === 'cuda';
  return [
    ...[...FFMPEG_GLOBAL, ...(card ? ['-xerror'] : [])],
    ...ffmpegInput(decoding.file, [
      ...['-threads', String(threads)],
      ...(card ? onCard(video) : []),
      ...steadyFilters(video),
      ...seek(range),
    ]),
    ...['-map', '0:V:0', '-vf', filter, '-fps_mode', 'passthrough', '-frames:v', String(count)],
    ...['-f', 'rawvideo', 'pipe:1'],
  ];
}

/**
 * ffmpeg skips pictures that do not decode and shows the preceding ones instead: right for a scratch in a file, wrong
 * for a card that fails. On a card, therefore, it stops at the first such picture (`-xerror`, which also covers a
 * picture that cannot be copied from the card), and software continues from there. Some HEVC pictures that the card
 * refuses are errors only to `explode`; for H.264, `explode` would also count what is missing before the landing point
 * of a seek.
 */
function onCard(video: VideoStream): string[] {
  return ['-hwaccel', 'cuda', ...(video.codec === 'hevc' ? ['-err_detect', 'explode'] : [])];
}

/**
 * A stream whose size or format changes midway must not restart the filters: their clock would lose a frame with every
 * change. The first of our filters that touches pixels takes any picture. The filters that ffmpeg inserts before ours
 * to turn a picture upright do not, so ours turn the picture; the filters are restarted only where ffmpeg alone knows
 * how to turn it.
 */
function steadyFilters({ upright }: VideoStream): string[] {
  return upright === null ? [] : ['-noautorotate', '-reinit_filter', '0'];
}

/**
 * Using the file's own clock and landing on a keyframe keep a seek exact: frames before the range are decoded and
 * dropped by number, never by time.
 */
function seek(range: FrameRange | undefined): string[] {
  if (range === undefined) return [];
  if (range.seekSeconds === undefined) return ['-copyts'];
  const landing = ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', range.seekSeconds.toFixed(6)];
  return ['-copyts', ...landing];
}

/** What a reader yields: planar 4:2:0 at the source's size, or packed RGB at a chosen size for analysis. */
export type FrameLayout =
  | { readonly format: 'yuv420p' }
  | { readonly format: 'rgb24'; readonly width: number; readonly height: number };

/** Size and byte count of one frame in a layout. */
export function frameGeometry(
  video: Pick<VideoStream, 'width' | 'height'>,
  layout: FrameLayout,
): { width: number; height: number; frameBytes: number } {
  if (layout.format === 'rgb24') {
    return { width: layout.width, height: layout.height, frameBytes: layout.width * layout.height * 3 };
  }
  const { width, height } = frameSize(video);
  return { width, height, frameBytes: (width * height * 3) / 2 };
}

/**
 * The one place where source time becomes working frames: 25 per second from the first picture on, each the newest
 * picture at its (rounded) instant. `firstPts`, in the stream's time base, stands in for "the first picture" when a
 * decoder starts in the middle of the file. `keepLast` rounds the end up instead of to the nearest frame.
 */
function workingRateFilter(options: { firstPts?: number | undefined; keepLast: boolean }): string {
  const end = options.keepLast ? ':eof_action=pass' : '';
  return `setpts=PTS-${options.firstPts ?? 'STARTPTS'},fps=${WORKING_FPS}${end}`;
}

/**
 * Pixel part of the chain. It states size and range explicitly: neither a stream whose size changes midway nor another
 * version's defaults may change the bytes of a frame. The scaler comes first because it alone accepts pictures of
 * another size and format than it was set up for; the scaled picture is then turned upright.
 */
function layoutFilter(video: VideoStream, layout: FrameLayout): string {
  const upright = video.upright ?? [];
  const { width, height } = frameGeometry(video, layout);
  if (layout.format === 'rgb24') {
    // Scaling to RGB in one step costs twice as much as scaling first, and differs by less than a level.
    const scaled = `scale=${stored(layout, upright)}:flags=bilinear`;
    return [scaled, 'format=yuv420p', 'scale=flags=bilinear', 'format=rgb24', ...upright].join(',');
  }
  const range = isRgb(video)
    ? ':out_color_matrix=bt709:out_range=tv'
    : isFullRange(video)
      ? ':out_range=pc'
      : '';
  const steps = [`scale=${stored(video, upright)}:flags=bicubic${range}`, 'format=yuv420p', ...upright];
  if (video.width !== width || video.height !== height) steps.push(`crop=${width}:${height}:0:0`);
  return steps.join(',');
}

/** The size before these filters turn the picture upright, for the scaler. */
function stored({ width, height }: { width: number; height: number }, upright: readonly string[]): string {
  return exchangesSides(upright) ? `${height}:${width}` : `${width}:${height}`;
}
