import { dirname } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import { probeInput } from '../ffmpeg/input-arguments';
import { runToEnd } from '../ffmpeg/media-child';
import { MediaError, MediaProcessError } from '../media-error';
import { MEDIA_LIMITS } from '../probe/media-limits';
import { readPacketTable } from '../probe/packet-table';
import { type VideoStream } from '../probe/stream-info';
import { type PictureRange } from './decoder-arguments';

const FIRST_PICTURE_DEADLINE_MS = 60_000;
/** Packets decoded to find out which picture is shown first: more than any codec reorders. */
const REORDER_DEPTH = 32;

/** Where to start a decoder so that a range of pictures comes out exactly as in a full decode. */
export type SeekIndex = (first: number, last: number) => PictureRange;

/**
 * Reads a video's packet table once and answers from the table. `times` are the pictures' times in seconds from the first
 * one, as its clock has them.
 * @throws MediaError, MediaProcessError.
 */
export async function readSeekIndex(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  times: readonly number[],
  signal?: AbortSignal,
): Promise<SeekIndex> {
  const table = await readPacketTable(binaries, file, MEDIA_LIMITS.maxPictures, signal);
  const firstPts = await firstPicturePts(binaries, file, table.leadIn + REORDER_DEPTH, signal);
  return (first, last) => locateRange({ keys: table.keys, firstPts, video, times }, first, last);
}

/**
 * By how much a picture's time in the clock may differ from that in the file, in seconds, because the clock of a constant
 * rate has exact times. Pictures are always farther apart than twice that.
 */
const SLACK = 0.002;
/** Pictures that the deinterlacer has to see before it gives one as it gives it in a full decode: those of a frame before. */
const FIELDS_BEFORE = 3;

interface Located {
  /** Times of the keyframes, and of the first picture, in the stream's time base. */
  readonly keys: readonly number[];
  readonly firstPts: number;
  readonly video: Pick<VideoStream, 'timeBase' | 'scan'>;
  readonly times: readonly number[];
}

/** A decoder has to start at a keyframe not after the first picture wanted. */
export function locateRange(
  { keys, firstPts, video, times }: Located,
  first: number,
  last: number,
): PictureRange {
  const { num, den } = video.timeBase;
  const needed = times[video.scan === 'progressive' ? first : first - FIELDS_BEFORE] ?? 0;
  const origin = (firstPts * num) / den;
  let key: number | undefined;
  for (const pts of keys) {
    const isBefore = (pts * num) / den - origin <= needed + SLACK;
    if (isBefore && pts > firstPts && pts > (key ?? -Infinity)) key = pts;
  }
  if (key === undefined) return { first, last };
  return {
    ...{ first, last },
    seek: {
      seconds: Math.ceil((key * num * 1e6) / den) / 1e6,
      from: origin + (times[first] ?? NaN) - SLACK,
      until: origin + (times[last] ?? NaN) + SLACK,
    },
  };
}

/** Time of the first picture that decodes, which is the clock's zero of every reader. */
async function firstPicturePts(
  binaries: Binaries,
  file: string,
  packets: number,
  signal?: AbortSignal,
): Promise<number> {
  const command: [string, ...string[]] = [
    binaries.ffprobe,
    ...['-select_streams', 'V:0', '-read_intervals', `%+#${packets}`],
    ...['-show_entries', 'frame=best_effort_timestamp', '-of', 'csv=p=0'],
    ...probeInput(file),
  ];
  const options = { folder: dirname(file), deadlineMs: FIRST_PICTURE_DEADLINE_MS, signal };
  const { exit, stdout } = await runToEnd(binaries, command, options, 64 * 1024);
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  const first = /^-?\d+/m.exec(stdout.toString('latin1'));
  if (exit.code !== 0 || first === null)
    throw new MediaError('media_corrupt', `no picture decodes: ${exit.stderr}`);
  return Number(first[0]);
}
