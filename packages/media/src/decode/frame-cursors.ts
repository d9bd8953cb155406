import { MediaError } from '../media-error';
import { type PictureRange } from './decoder-arguments';
import { type FrameReader } from './picture-reader';
import { type SeekIndex } from './seek-index';

/** Pictures of one run by their numbers. */
export interface PictureCursor {
  /**
   * Copies the picture of this number into `target`. Numbers follow the run's direction; `again` says that the next one
   * is the same.
   */
  copy(picture: number, target: Uint8Array, again: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Decodes from the beginning straight into the callers' memory; pictures skipped are read and discarded. The reader yields
 * all pictures, or `only` these.
 */
export function forwardPictures(reader: FrameReader, only?: readonly number[]): PictureCursor {
  let position = -1;
  let current = -1;
  let held: Uint8Array | undefined;
  async function copy(picture: number, target: Uint8Array, again: boolean): Promise<void> {
    if (picture === current && held !== undefined) target.set(held);
    while (current < picture) {
      if (!(await reader.readInto(target))) throw missing(picture);
      position += 1;
      current = only === undefined ? position : (only[position] ?? Infinity);
    }
    // Only a picture that is shown again is kept, because the caller may do what it likes with its own copy.
    if (again) (held ??= new Uint8Array(reader.frameBytes)).set(target);
  }
  return { copy, close: () => reader.close() };
}

/** Pictures of a clip short enough to keep whole, `first` being the reader's first one: served in any order. */
export function cachedPictures(reader: FrameReader, first: number): PictureCursor {
  const decoded: Uint8Array[] = [];
  async function copy(picture: number, target: Uint8Array): Promise<void> {
    while (decoded.length <= picture - first) {
      const frame = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(frame))) throw missing(picture);
      decoded.push(frame);
    }
    const frame = decoded[picture - first];
    if (frame === undefined) throw new RangeError(`picture ${picture} is before the first`);
    target.set(frame);
  }
  return { copy, close: () => reader.close() };
}

function missing(picture: number): MediaError {
  return new MediaError('media_corrupt', `there is no picture ${picture}`);
}

interface Chunk {
  readonly first: number;
  /** Pictures `first`, `first + 1`, … */
  readonly frames: Uint8Array[];
}

interface BackwardOptions {
  readonly highest: number;
  readonly lowest: number;
  /** Pictures in memory, counting both the chunk being served and the chunk being decoded. */
  readonly bufferedFrames: number;
  readonly frameBytes: number;
  readonly seekIndex: SeekIndex;
  readonly openReader: (range: PictureRange) => FrameReader;
}

/**
 * Serves pictures from high to low out of chunks decoded forwards. While one chunk is served, the decoder of the next
 * chunk is already running from its keyframe and fills the buffers as they come free, so memory stays at
 * `bufferedFrames`.
 */
export function backwardPictures(options: BackwardOptions): PictureCursor {
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
    const chunk = (await readChunk(range)) ?? (await readChunk({ first, last }));
    if (chunk === undefined) throw missing(last);
    return chunk;
  }

  /**
   * Undefined when pictures are missing because the container's seek landed after the keyframe that its own table names.
   */
  async function readChunk(range: PictureRange): Promise<Chunk | undefined> {
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

  async function copy(picture: number, target: Uint8Array): Promise<void> {
    if (current !== undefined) releaseAbove(current, picture);
    while (current === undefined || picture < current.first) {
      if (upcoming === undefined) throw new RangeError(`picture ${picture} is outside ${lowest}..${highest}`);
      current = await upcoming;
      upcoming = startLoading(current.first - 1);
      releaseAbove(current, picture);
    }
    const frame = current.frames[picture - current.first];
    if (frame === undefined) throw new RangeError(`picture ${picture} was already passed`);
    target.set(frame);
  }

  function releaseAbove(chunk: Chunk, picture: number): void {
    for (const frame of chunk.frames.splice(Math.max(0, picture - chunk.first + 1))) slots.give(frame);
  }

  async function close(): Promise<void> {
    closed = true;
    slots.close();
    await Promise.all([...readers].map((reader) => reader.close()));
  }

  return { copy, close };
}

/** A fixed set of picture buffers; a taker that finds all of them out waits for the next one to come back. */
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
