import { MediaError } from '../media-error';
import { type FrameRange } from './decoder-arguments';
import { type FrameCursor } from './frame-cursor';
import { type FrameReader } from './frame-reader';
import { FrameSlots } from './frame-slots';
import { type SeekIndex } from './seek-index';

interface Chunk {
  readonly first: number;
  /** Frames `first`, `first + 1`, … */
  readonly frames: Uint8Array[];
}

export interface BackwardOptions {
  readonly highest: number;
  readonly lowest: number;
  /** Frames in memory, counting both the chunk being served and the chunk being decoded. */
  readonly bufferedFrames: number;
  readonly frameBytes: number;
  readonly seekIndex: SeekIndex;
  readonly openReader: (range: FrameRange) => FrameReader;
}

/**
 * Serves frames from high to low out of chunks decoded forwards. While one chunk is served, the decoder of the next
 * chunk is already running from its keyframe and fills the buffers as they come free, so memory stays at
 * `bufferedFrames`.
 */
export function backwardFrames(options: BackwardOptions): FrameCursor {
  const { lowest, highest, bufferedFrames } = options;
  const slots = new FrameSlots(bufferedFrames, options.frameBytes);
  const readers = new Set<FrameReader>();
  let closed = false;
  let current: Chunk | undefined;
  let upcoming: Promise<Chunk> | undefined = startLoading(highest);

  function startLoading(last: number): Promise<Chunk> | undefined {
    if (last < lowest) return undefined;
    const loading = load(Math.max(lowest, last - bufferedFrames + 1), last);
    // The failure is thrown where the chunk is awaited; until then it must not count as an unhandled rejection.
    loading.catch(() => undefined);
    return loading;
  }

  async function load(first: number, last: number): Promise<Chunk> {
    const range = options.seekIndex(first, last);
    const chunk = (await readChunk(range)) ?? (await readChunk({ first, last, firstPts: range.firstPts }));
    if (chunk === undefined) throw new MediaError('media_corrupt', `there are no frames ${first} to ${last}`);
    return chunk;
  }

  /**
   * Undefined when frames are missing because the container's seek landed after the keyframe that its own table names.
   */
  async function readChunk(range: FrameRange): Promise<Chunk | undefined> {
    const reader = options.openReader(range);
    readers.add(reader);
    const frames: Uint8Array[] = [];
    try {
      while (frames.length <= range.last - range.first) {
        const slot = await slots.take();
        if (slot === undefined || closed) throw new Error('the frame source was closed');
        if (!(await reader.readInto(slot))) {
          slots.give(slot);
          for (const frame of frames) slots.give(frame);
          return undefined;
        }
        frames.push(slot);
      }
      return { first: range.first, frames };
    } finally {
      readers.delete(reader);
      await reader.close();
    }
  }

  async function copyFrame(index: number, target: Uint8Array): Promise<void> {
    if (current !== undefined) releaseAbove(current, index);
    while (current === undefined || index < current.first) {
      if (upcoming === undefined) throw new RangeError(`frame ${index} is outside ${lowest}..${highest}`);
      current = await upcoming;
      upcoming = startLoading(current.first - 1);
      releaseAbove(current, index);
    }
    const frame = current.frames[index - current.first];
    if (frame === undefined) throw new RangeError(`frame ${index} was already passed`);
    target.set(frame);
  }

  function releaseAbove(chunk: Chunk, index: number): void {
    for (const frame of chunk.frames.splice(Math.max(0, index - chunk.first + 1))) slots.give(frame);
  }

  async function close(): Promise<void> {
    closed = true;
    slots.close();
    await Promise.all([...readers].map((reader) => reader.close()));
  }

  return { copyFrame, close };
}
