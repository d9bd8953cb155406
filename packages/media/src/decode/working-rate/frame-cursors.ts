import { MediaError } from '../../media-error';
import { type FrameRange } from './decoder-arguments';
import { type FrameReader } from './frame-reader';
import { type SeekIndex } from './seek-index';

/** Frames of one run by source index. */
export interface FrameCursor {
  /**
   * Copies the frame of this index into `target`. Indices follow the run's direction; `again` says that the next index
   * is the same.
   */
  copyFrame(index: number, target: Uint8Array, again: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Decodes from the beginning straight into the callers' memory; skipped frames are read and discarded. */
export function forwardFrames(reader: FrameReader): FrameCursor {
  let current = -1;
  let held: Uint8Array | undefined;
  async function copyFrame(index: number, target: Uint8Array, again: boolean): Promise<void> {
    if (index === current && held !== undefined) target.set(held);
    while (current < index) {
      if (!(await reader.readInto(target)))
        throw new MediaError('media_corrupt', `there is no frame ${index}`);
      current += 1;
    }
    // Only a frame that is shown again is kept, because the caller may do what it likes with its own copy.
    if (again) (held ??= new Uint8Array(reader.frameBytes)).set(target);
  }
  return { copyFrame, close: () => reader.close() };
}

/** Frames from `first` on, of a clip short enough to keep whole: decoded once, then served in any order. */
export function cachedFrames(reader: FrameReader, first: number): FrameCursor {
  const decoded: Uint8Array[] = [];
  let skipped = 0;
  async function copyFrame(index: number, target: Uint8Array): Promise<void> {
    const position = index - first;
    while (decoded.length <= position) {
      const frame = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(frame)))
        throw new MediaError('media_corrupt', `there is no frame ${index}`);
      if (skipped < first) skipped += 1;
      else decoded.push(frame);
    }
    const frame = decoded[position];
    if (frame === undefined) throw new RangeError(`frame ${index} is before the first`);
    target.set(frame);
  }
  return { copyFrame, close: () => reader.close() };
}

interface Chunk {
  readonly first: number;
  /** Frames `first`, `first + 1`, … */
  readonly frames: Uint8Array[];
}

interface BackwardOptions {
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

/** A fixed set of frame buffers; a taker that finds all of them out waits for the next one to come back. */
class FrameSlots {
  private readonly free: Uint8Array[] = [];
  private readonly queue: ((slot: Uint8Array | undefined) => void)[] = [];
  private made = 0;
  private closed = false;

  constructor(
    private readonly capacity: number,
    private readonly frameBytes: number,
  ) {}

  /** A buffer, or undefined once closed. */
  take(): Promise<Uint8Array | undefined> {
    if (this.closed) return Promise.resolve(undefined);
    const slot = this.free.pop();
    if (slot !== undefined) return Promise.resolve(slot);
    if (this.made < this.capacity) {
      this.made += 1;
      return Promise.resolve(new Uint8Array(this.frameBytes));
    }
    return new Promise((resolve) => this.queue.push(resolve));
  }

  give(slot: Uint8Array): void {
    const waiting = this.queue.shift();
    if (waiting === undefined) this.free.push(slot);
    else waiting(slot);
  }

  close(): void {
    this.closed = true;
    for (const waiting of this.queue.splice(0)) waiting(undefined);
  }
}
