import { type Clock, secondsAt } from '@lipsync/domain';
import { type Binaries } from '../ffmpeg/binaries';
import { type VideoStream } from '../probe/stream-info';
import { type ClipFrames } from './clip-clock';
import { type PictureSelection } from './decoder-arguments';
import { backwardPictures, cachedPictures, forwardPictures, type PictureCursor } from './frame-cursors';
import { type FrameFormat, frameFormat, frameGeometry } from './frame-layout';
import { type DecodingLimits, type FrameReader, openPictureReader } from './picture-reader';
import { readSeekIndex, type SeekIndex } from './seek-index';

interface FrameSourceOptions extends DecodingLimits, ClipFrames {
  /** `frameFormat(video)` unless it is given; HDR in 8 bits is tone-mapped. */
  readonly format?: FrameFormat;
  /**
   * A reader of the same video in the same format, from its first picture on, that was opened before the frames were
   * known, see `openAhead`. It belongs to the source, which reads from it if the frames begin with most of the video.
   */
  readonly ahead?: FrameReader | undefined;
}

/**
 * Memory for reading backwards. Each chunk that fits is decoded from the keyframe before it, which in screen recordings
 * may be the very first picture: longer chunks mean fewer such decodes.
 */
const BUFFERED_BYTES = 192 * 1024 ** 2;
const MOST_BUFFERED = 256;
const FEWEST_BUFFERED = 8;
/** Pictures that are picked in the decoder instead of copied: the list of them is part of its command line. */
const MOST_PICKED = 256;

/** Starts decoding a video whose frames will be asked for by `openFrameSource`. */
export function openAhead(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  { format, ...limits }: DecodingLimits & { readonly format: FrameFormat },
): FrameReader {
  return openPictureReader(binaries, file, video, { layout: { format }, ...limits });
}

/**
 * Serves a video's frames by their numbers in its clock in any order, byte for byte those from which the clock was made,
 * with bounded memory. Made for timelines: long stretches forwards or backwards, holds, skips and restarts. A picture
 * that the file does not have is media_corrupt.
 */
export function openFrameSource(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  indices: readonly number[],
  options: FrameSourceOptions,
): FrameReader {
  const { deadlineMs, signal, clock, held } = options;
  const layout = { format: options.format ?? frameFormat(video) };
  const geometry = frameGeometry(video, layout);
  const pictureOf = picturesOf(held);
  const pictures = indices.map((index) => at(pictureOf, index));
  const { lowest, highest } = span(pictures);
  const runs = pictureRuns(pictures);
  const fitting = Math.floor(BUFFERED_BYTES / geometry.frameBytes);
  const bufferedFrames = Math.min(MOST_BUFFERED, Math.max(FEWEST_BUFFERED, fitting));
  const keepAll = runs.length > 1 && highest - lowest < bufferedFrames;
  let { ahead } = options;
  let position = 0;
  let open: { cursor: PictureCursor; run: PictureRun } | undefined;
  let seekIndex: Promise<SeekIndex> | undefined;

  function reader(selection?: PictureSelection): FrameReader {
    return openPictureReader(binaries, file, video, { layout, deadlineMs, signal, selection });
  }

  /** The reader that was opened ahead, if nothing has used it, or else one of these pictures, all by default. */
  function fromFirst(selection?: PictureSelection): FrameReader {
    const opened = ahead ?? reader(selection);
    ahead = undefined;
    return opened;
  }

  function forwards({ from, to }: PictureRun): PictureCursor {
    const only = picked(pictures.slice(from, to + 1));
    return forwardPictures(only ? reader({ only }) : fromFirst(), only);
  }

  async function cursorOf(run: PictureRun): Promise<PictureCursor> {
    if (keepAll) {
      const all = { first: lowest, last: highest };
      return cachedPictures(lowest === 0 ? fromFirst(all) : reader(all), lowest);
    }
    if (run.direction === 'forward') return forwards(run);
    seekIndex ??= readSeekIndex(binaries, file, video, pictureTimes(clock, held), signal);
    return backwardPictures({
      ...span(pictures.slice(run.from, run.to + 1)),
      bufferedFrames,
      frameBytes: geometry.frameBytes,
      seekIndex: await seekIndex,
      openReader: reader,
    });
  }

  async function current(): Promise<{ cursor: PictureCursor; run: PictureRun }> {
    if (open !== undefined && (keepAll || position <= open.run.to)) return open;
    await open?.cursor.close();
    open = undefined;
    const run = runs.find(({ from, to }) => from <= position && position <= to);
    if (run === undefined) throw new RangeError(`no run holds position ${position}`);
    open = { cursor: await cursorOf(run), run };
    return open;
  }

  // Most sequences begin forwards: the decoder starts at once, so that the first picture is ready when it is asked for.
  const [run] = runs;
  if (run?.direction === 'forward' && !keepAll) open = { cursor: forwards(run), run };
  // A sequence that skips most of the video has the few pictures picked in a decoder of its own.
  const unused = keepAll ? undefined : ahead?.close();
  if (!keepAll) ahead = undefined;

  async function readInto(target: Uint8Array): Promise<boolean> {
    const picture = pictures[position];
    if (picture === undefined) return false;
    const { cursor, run } = await current();
    await cursor.copy(picture, target, position < run.to && pictures[position + 1] === picture);
    position += 1;
    return true;
  }

  async function close(): Promise<void> {
    await Promise.all([open?.cursor.close(), ahead?.close(), unused]);
    open = undefined;
  }

  return { ...geometry, readInto, close };
}

/** The picture that each frame shows. */
function picturesOf(held: Uint8Array): number[] {
  let picture = -1;
  return Array.from(held, (isHeld) => (isHeld === 1 ? picture : (picture += 1)));
}

/** When each picture appears, in seconds. */
export function pictureTimes(clock: Clock, held: Uint8Array): number[] {
  return [...held.keys()].filter((frame) => held[frame] === 0).map((frame) => secondsAt(clock, frame));
}

/** The pictures of a run forwards if they are so few that it pays to pick them in the decoder. */
function picked(run: readonly number[]): number[] | undefined {
  const only = [...new Set(run)];
  return only.length <= MOST_PICKED && only.length * 2 <= at(only, only.length - 1) ? only : undefined;
}

function span(pictures: readonly number[]): { lowest: number; highest: number } {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const picture of pictures) {
    lowest = Math.min(lowest, picture);
    highest = Math.max(highest, picture);
  }
  return { lowest, highest };
}

/** A stretch of the output whose pictures only rise (repeats and skips included) or only fall. */
interface PictureRun {
  readonly direction: 'forward' | 'backward';
  /** Positions in the sequence, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a sequence of pictures into runs. A step down followed by a step up begins a new forward run (a loop
 * restarts); a step down followed by another step down begins a backward run (a bounce returns).
 */
export function pictureRuns(indices: readonly number[]): PictureRun[] {
  const runs: PictureRun[] = [];
  let from = 0;
  while (from < indices.length) {
    const direction = directionFrom(indices, from);
    let to = from;
    while (to + 1 < indices.length && continues(direction, at(indices, to), at(indices, to + 1))) to += 1;
    runs.push({ direction, from, to });
    from = to + 1;
  }
  return runs;
}

function directionFrom(indices: readonly number[], from: number): PictureRun['direction'] {
  const first = at(indices, from);
  for (let next = from + 1; next < indices.length; next += 1) {
    if (at(indices, next) !== first) return at(indices, next) < first ? 'backward' : 'forward';
  }
  return 'forward';
}

function continues(direction: PictureRun['direction'], current: number, next: number): boolean {
  return direction === 'forward' ? next >= current : next <= current;
}

function at(indices: readonly number[], position: number): number {
  const index = indices[position];
  if (index === undefined) throw new RangeError(`no index at ${position}`);
  return index;
}
