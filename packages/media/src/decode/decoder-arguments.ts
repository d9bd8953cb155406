import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { type FrameLayout, layoutFilter, workingRateFilter } from './frame-filters';
import { FFMPEG_GLOBAL, ffmpegInput } from '../ffmpeg/input-arguments';
import { type VideoStream } from '../probe/stream-info';
import { type VideoDecoder } from '../ffmpeg/video-codecs';

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

/** What one decoding process does. */
export interface FrameDecoding {
  readonly file: string;
  readonly video: VideoStream;
  readonly layout: FrameLayout;
  readonly decoder: VideoDecoder;
  /** All frames when absent. */
  readonly range?: FrameRange | undefined;
  /** Show the last picture for a working frame even when the video ends before half of that frame has passed. */
  readonly keepLast?: boolean;
}

/** More than any accepted video can yield: stops the endless repetition that a far-away timestamp would cause. */
const MAX_FRAMES = (MEDIA_MAX_SECONDS + 2) * WORKING_FPS;

/** The decoder's arguments after the program's name: raw working frames on standard output. */
export function decoderArguments(decoding: FrameDecoding, threads: number): string[] {
  const { video, range, keepLast = false } = decoding;
  const rate = workingRateFilter({ firstPts: range?.firstPts, keepLast });
  const within = range === undefined ? [] : [`select=between(pts\\,${range.first}\\,${range.last})`];
  const filter = [rate, ...within, layoutFilter(video, decoding.layout)].join(',');
  const count = range === undefined ? MAX_FRAMES : range.last - range.first + 1;
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
 * ffmpeg passes over pictures that do not decode and shows those before them instead: right for a scratch in a file,
 * wrong for a card that fails. So on a card it stops at the first one (`-xerror`, also for a picture that cannot be
 * copied from it), and software goes on from there. Of HEVC's pictures some that the card refuses are errors only to
 * `explode`; for H.264 that would also count what is missing before the landing of a seek.
 */
function onCard(video: VideoStream): string[] {
  return ['-hwaccel', 'cuda', ...(video.codec === 'hevc' ? ['-err_detect', 'explode'] : [])];
}

/**
 * A stream whose size or format changes midway must not restart the filters: the clock in them would lose a frame with
 * every change. The first of ours that touches pixels takes any picture. Those that ffmpeg puts before ours to turn a
 * picture upright do not, so ours turn it, and only where ffmpeg alone knows how are they restarted.
 */
function steadyFilters({ upright }: VideoStream): string[] {
  return upright === null ? [] : ['-noautorotate', '-reinit_filter', '0'];
}

/**
 * The file's own clock and a keyframe landing keep a seek exact: frames before the range are decoded and dropped by
 * number, never by time.
 */
function seek(range: FrameRange | undefined): string[] {
  if (range === undefined) return [];
  if (range.seekSeconds === undefined) return ['-copyts'];
  const landing = ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', range.seekSeconds.toFixed(6)];
  return ['-copyts', ...landing];
}
