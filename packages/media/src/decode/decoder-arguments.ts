import { exactRate, type Rational } from '@lipsync/domain';
import { type VideoDecoder } from '../ffmpeg/binaries';
import { FFMPEG_GLOBAL, ffmpegInput } from '../ffmpeg/input-arguments';
import { type VideoStream } from '../probe/stream-info';
import { type FrameLayout, layoutFilters, storedSize } from './frame-layout';

/**
 * Pictures of a clip, by their numbers from 0: a stretch (both ends inclusive), reached by a seek if it says how, or
 * single ones in rising order.
 */
export type PictureSelection = PictureRange | { readonly only: readonly number[] };

export interface PictureRange {
  readonly first: number;
  readonly last: number;
  readonly seek?: {
    /** Where the decoder starts; all are seconds of the file's own clock. */
    readonly seconds: number;
    /** These lie close around the times of the first and the last picture. */
    readonly from: number;
    readonly until: number;
  };
}

/** What one decoding process does. */
export interface PictureDecoding {
  readonly file: string;
  readonly video: VideoStream;
  readonly layout: FrameLayout;
  readonly decoder: VideoDecoder;
  /** Absent means all pictures. */
  readonly selection?: PictureSelection | undefined;
  /** Whether the pictures' times are written to descriptor 3, in units of `pictureTiming`. */
  readonly timed?: boolean | undefined;
}

/** The decoder's arguments after the program's name: raw pictures, in the order shown, on standard output. */
export function decoderArguments(decoding: PictureDecoding, threads: number): string[] {
  const { video, selection, layout, timed = false } = decoding;
  const card = decoding.decoder === 'cuda';
  const filters = [
    ...deinterlaced(video),
    ...within(selection),
    `select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,${closestSeconds(video)})`,
    ...among(selection),
    ...(timed ? printedTimes(video) : []),
    ...layoutFilters(video, layout),
  ];
  return [
    ...[...FFMPEG_GLOBAL, ...(card ? ['-xerror'] : [])],
    ...ffmpegInput(decoding.file, [
      ...['-threads', String(threads)],
      ...(card ? onCard(video) : []),
      ...withAlpha(video),
      ...steadyFilters(video),
      // Times are the file's own, so that they are the same from wherever a decoder starts.
      '-copyts',
      ...landing(selection),
    ]),
    ...['-map', '0:V:0', '-vf', filters.join(','), '-fps_mode', 'passthrough', ...count(selection)],
    ...['-f', 'rawvideo', 'pipe:1'],
  ];
}

/** The unit of the times that a decoder writes, and the rate of pictures that the container claims. */
export function pictureTiming(video: Pick<VideoStream, 'scan' | 'timeBase' | 'rate'>): {
  readonly timeBase: Rational;
  readonly rate: Rational | null;
} {
  const { timeBase } = video;
  const rate = video.rate && televisions(video.rate);
  if (video.scan === 'progressive') return { timeBase, rate };
  const fields = rate && { num: rate.num * 2, den: rate.den };
  return { timeBase: { num: timeBase.num, den: timeBase.den * 2 }, rate: fields };
}

/** A rate that Matroska keeps as a duration in nanoseconds comes back as a fraction beside that of television. */
function televisions(rate: Rational): Rational {
  const exact = exactRate(rate.num / rate.den);
  return exact.den === 1001 ? exact : rate;
}

/**
 * Pictures that follow the last one shown by less than this are left out. Of a source of more than 60 per second, every
 * second, third … picture remains, however times are rounded. Any other keeps all its pictures, however unsteady their
 * times are, but for those that nobody would see.
 */
function closestSeconds({ fps }: VideoStream): string {
  return fps > 60 / 0.88 ? '0.88/60' : '0.3/60';
}

/**
 * Filters after which a video's pictures are as they are counted everywhere: interlaced ones show two moments, each of
 * which becomes a picture. The scaler before holds pictures of another size off, which the deinterlacer cannot take; it
 * passes all others on untouched.
 */
export function deinterlaced(video: VideoStream): string[] {
  if (video.scan === 'progressive') return [];
  return [`scale=${storedSize(video)}`, `bwdif=mode=send_field:parity=${video.scan}:deint=all`];
}

/**
 * After a seek, pictures are known by their times. The first of them is one that is shown, so the ones that follow too
 * closely are the same as without the seek.
 */
function within(selection: PictureSelection | undefined): string[] {
  if (selection === undefined || 'only' in selection || selection.seek === undefined) return [];
  const { from, until } = selection.seek;
  return [`select=between(t\\,${from.toFixed(6)}\\,${until.toFixed(6)})`];
}

function among(selection: PictureSelection | undefined): string[] {
  if (selection === undefined) return [];
  if ('only' in selection) return [`select=${anyOf(selection.only.map((number) => `eq(n\\,${number})`))}`];
  return selection.seek === undefined ? [`select=between(n\\,${selection.first}\\,${selection.last})`] : [];
}

/** ffmpeg takes some hundred terms in one sum, and as many sums in another. */
const MOST_TERMS = 64;

function anyOf(terms: readonly string[]): string {
  const sums = Array.from({ length: Math.ceil(terms.length / MOST_TERMS) }, (_, sum) =>
    terms.slice(sum * MOST_TERMS, (sum + 1) * MOST_TERMS).join('+'),
  );
  return sums.map((sum) => `(${sum})`).join('+');
}

function count(selection: PictureSelection | undefined): string[] {
  if (selection === undefined) return [];
  const pictures = 'only' in selection ? selection.only.length : selection.last - selection.first + 1;
  return ['-frames:v', String(pictures)];
}

/** Landing on a keyframe keeps a seek exact: the pictures before the first one wanted are decoded and dropped. */
function landing(selection: PictureSelection | undefined): string[] {
  if (selection === undefined || 'only' in selection || selection.seek === undefined) return [];
  return ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', selection.seek.seconds.toFixed(6)];
}

/**
 * Writes a line with each picture's time to descriptor 3, before the picture itself is written. Only pictures that have
 * metadata are listed; what a file brought is removed, so that it cannot write lines of its own.
 */
function printedTimes(video: VideoStream): string[] {
  const { num, den } = pictureTiming(video).timeBase;
  return [
    `settb=${num}/${den}`,
    'metadata=mode=delete',
    'metadata=mode=add:key=shown:value=1',
    'metadata=mode=print:key=shown:direct=1:file=pipe\\\\:3',
  ];
}

/** The time in a line that `metadata=mode=print` writes; other lines have none. */
export const PRINTED_TIME = /^frame:\d+ +pts:(\S+)/;

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

/** ffmpeg's own decoders of VP8 and VP9, which it prefers, ignore that pictures have transparent parts. */
function withAlpha({ alpha, codec }: VideoStream): string[] {
  if (!alpha || (codec !== 'vp8' && codec !== 'vp9')) return [];
  return ['-c:v', codec === 'vp8' ? 'libvpx' : 'libvpx-vp9'];
}

/**
 * A stream whose size or format changes midway must not restart the filters: which picture they are at would be lost
 * with every change. The first of our filters that touches pixels takes any picture. The filters that ffmpeg inserts
 * before ours to turn a picture upright do not, so ours turn the picture; the filters are restarted only where ffmpeg
 * alone knows how to turn it.
 */
function steadyFilters({ upright }: VideoStream): string[] {
  return upright === null ? [] : ['-noautorotate', '-reinit_filter', '0'];
}
