import { type Binaries } from '../../ffmpeg/binaries';
import { type VideoStream } from '../../probe/stream-info';
import { frameGeometry, type FrameRange } from './decoder-arguments';
import { backwardFrames, cachedFrames, forwardFrames, type FrameCursor } from './frame-cursors';
import { type FrameReader, openFrameReader } from './frame-reader';
import { readSeekIndex, type SeekIndex } from './seek-index';

interface FrameSourceOptions {
  /** Wall-clock limit of each decoder, including time spent waiting for the caller. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Memory for reading backwards. Each chunk that fits is decoded from the keyframe before it, which in screen recordings
 * may be the very first picture: longer chunks mean fewer such decodes.
 */
const BUFFERED_BYTES = 192 * 1024 ** 2;
const MOST_BUFFERED = 256;
const FEWEST_BUFFERED = 8;
const LAYOUT = { format: 'yuv420p' } as const;

/**
 * Serves the yuv420p working frames of a video in any order of their indices, byte for byte those of one full decode,
 * with bounded memory. Made for timelines: long stretches forwards or backwards, holds, skips and restarts. An index past
 * the end is media_corrupt.
 */
export function openFrameSource(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  indices: readonly number[],
  options: FrameSourceOptions,
): FrameReader {
  const geometry = frameGeometry(video, LAYOUT);
  const { lowest, highest } = span(indices);
  const runs = frameRuns(indices);
  const fitting = Math.floor(BUFFERED_BYTES / geometry.frameBytes);
  const bufferedFrames = Math.min(MOST_BUFFERED, Math.max(FEWEST_BUFFERED, fitting));
  const keepAll = runs.length > 1 && highest - lowest < bufferedFrames;
  let position = 0;
  let open: { cursor: FrameCursor; run: FrameRun } | undefined;
  let seekIndex: Promise<SeekIndex> | undefined;

  function reader(range?: FrameRange): FrameReader {
    return openFrameReader(binaries, file, video, {
      layout: LAYOUT,
      deadlineMs: options.deadlineMs,
      signal: options.signal,
      ...(range === undefined ? {} : { range }),
    });
  }

  async function cursorOf(run: FrameRun): Promise<FrameCursor> {
    if (keepAll) return cachedFrames(reader(), lowest);
    if (run.direction === 'forward') return forwardFrames(reader());
    seekIndex ??= readSeekIndex(binaries, file, video, options.signal);
    const bounds = span(indices.slice(run.from, run.to + 1));
    return backwardFrames({
      ...bounds,
      bufferedFrames,
      frameBytes: geometry.frameBytes,
      seekIndex: await seekIndex,
      openReader: reader,
    });
  }

  async function current(): Promise<{ cursor: FrameCursor; run: FrameRun }> {
    if (open !== undefined && (keepAll || position <= open.run.to)) return open;
    await open?.cursor.close();
    open = undefined;
    const run = runs.find(({ from, to }) => from <= position && position <= to);
    if (run === undefined) throw new RangeError(`no run holds position ${position}`);
    open = { cursor: await cursorOf(run), run };
    return open;
  }

  // Most sequences begin forwards: the decoder starts at once, so that the first picture is ready when it is asked for.
  const [first] = runs;
  let started = Promise.resolve();
  if (first?.direction === 'forward' && !keepAll) {
    const ahead = reader();
    open = { cursor: forwardFrames(ahead), run: first };
    started = ahead.started;
  }

  async function readInto(target: Uint8Array): Promise<boolean> {
    const index = indices[position];
    if (index === undefined) return false;
    const { cursor, run } = await current();
    await cursor.copyFrame(index, target, position < run.to && indices[position + 1] === index);
    position += 1;
    return true;
  }

  async function close(): Promise<void> {
    await open?.cursor.close();
    open = undefined;
  }

  return { ...geometry, started, readInto, close };
}

function span(indices: readonly number[]): { lowest: number; highest: number } {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const index of indices) {
    if (!Number.isInteger(index) || index < 0) throw new RangeError(`not a frame index: ${index}`);
    lowest = Math.min(lowest, index);
    highest = Math.max(highest, index);
  }
  return { lowest, highest };
}

/** A stretch of the output whose source indices only rise (repeats and skips included) or only fall. */
interface FrameRun {
  readonly direction: 'forward' | 'backward';
  /** Positions in the sequence, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a sequence of source indices into runs. A step down followed by a step up begins a new forward run (a loop
 * restarts); a step down followed by another step down begins a backward run (a bounce returns).
 */
export function frameRuns(indices: readonly number[]): FrameRun[] {
  const runs: FrameRun[] = [];
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

function directionFrom(indices: readonly number[], from: number): FrameRun['direction'] {
  const first = at(indices, from);
  for (let next = from + 1; next < indices.length; next += 1) {
    if (at(indices, next) !== first) return at(indices, next) < first ? 'backward' : 'forward';
  }
  return 'forward';
}

function continues(direction: FrameRun['direction'], current: number, next: number): boolean {
  return direction === 'forward' ? next >= current : next <= current;
}

function at(indices: readonly number[], position: number): number {
  const index = indices[position];
  if (index === undefined) throw new RangeError(`no index at ${position}`);
  return index;
}
