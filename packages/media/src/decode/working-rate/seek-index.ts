import { dirname } from 'node:path';
import { WORKING_FPS } from '@lipsync/domain';
import { type Binaries } from '../../ffmpeg/binaries';
import { probeInput } from '../../ffmpeg/input-arguments';
import { runToEnd } from '../../ffmpeg/media-child';
import { MediaError, MediaProcessError } from '../../media-error';
import { MEDIA_LIMITS } from '../../probe/media-limits';
import { type PacketTable, readPacketTable } from '../../probe/packet-table';
import { type Rational, type VideoStream } from '../../probe/stream-info';
import { type FrameRange } from './decoder-arguments';

const FIRST_PICTURE_DEADLINE_MS = 60_000;
/** Packets decoded to find out which picture is shown first: more than any codec reorders. */
const REORDER_DEPTH = 32;

/** Where to start a decoder so that a range of working frames comes out exactly as in a full decode. */
export type SeekIndex = (first: number, last: number) => FrameRange;

/** Reads a video's packet table once and answers from the table. @throws MediaError, MediaProcessError. */
export async function readSeekIndex(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  signal?: AbortSignal,
): Promise<SeekIndex> {
  const table = await readPacketTable(binaries, file, MEDIA_LIMITS.maxPictures, signal);
  const firstPts = await firstPicturePts(binaries, file, table.leadIn + REORDER_DEPTH, signal);
  return (first, last) => locateRange(table, video.timeBase, firstPts, first, last);
}

/**
 * The picture shown at working frame n is the last one whose time, rounded to 1/25 s, is not after n; a decoder has to
 * start at a keyframe not after that picture.
 */
export function locateRange(
  table: PacketTable,
  timeBase: Rational,
  firstPts: number,
  first: number,
  last: number,
): FrameRange {
  let shown = firstPts;
  for (const pts of table.pts) {
    const frame = Math.round(((pts - firstPts) * timeBase.num * WORKING_FPS) / timeBase.den);
    if (frame <= first && pts > shown) shown = pts;
  }
  let key: number | undefined;
  for (const pts of table.keys) if (pts <= shown && pts > firstPts && pts > (key ?? -Infinity)) key = pts;
  if (key === undefined) return { first, last, firstPts };
  const microseconds = Math.ceil((key * timeBase.num * 1e6) / timeBase.den);
  return { first, last, firstPts, seekSeconds: microseconds / 1e6 };
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
