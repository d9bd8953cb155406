import { type FrameStream } from '@lipsync/engines';

export type Frame = Uint8Array<ArrayBuffer>;

interface Waiter {
  resolve(frame: Frame): void;
  reject(reason: unknown): void;
}

export type FramePool = ReturnType<typeof createFramePool>;

/**
 * Hands out a fixed number of picture buffers, wherever their memory comes from. Newly allocated memory costs page
 * faults on every frame, and a limit keeps memory flat.
 */
export function createFramePool(frames: readonly Frame[]) {
  const free = [...frames];
  const waiting: Waiter[] = [];

  const wait = (signal: AbortSignal): Promise<Frame> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      const stop = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1);
        waiter.reject(signal.reason);
      };
      waiter.resolve = (frame) => {
        signal.removeEventListener('abort', stop);
        resolve(frame);
      };
      waiting.push(waiter);
      signal.addEventListener('abort', stop, { once: true });
    });

  return {
    /** Number of buffers, free or not. */
    size: frames.length,
    /**
     * A buffer for exclusive use, as soon as one is free. Rejects with the signal's reason once the signal is aborted.
     */
    async take(signal: AbortSignal): Promise<Frame> {
      signal.throwIfAborted();
      return free.pop() ?? wait(signal);
    },
    giveBack(frame: Frame): void {
      const waiter = waiting.shift();
      if (waiter) waiter.resolve(frame);
      else free.push(frame);
    },
  };
}

/**
 * Number of buffers, in batch lengths: for the batches in flight, the one that fills, and frames being decoded and
 * encoded.
 */
const BATCHES = 4;

/** Limit for the pictures of one clip, in bytes: 1080p in batches of 16 fits, larger pictures get fewer buffers. */
const MOST_BYTES = 256 * 2 ** 20;

/** Minimum besides one batch: a picture that is being decoded and one that is being encoded. */
const SPARES = 2;

/** How many picture buffers a clip gets: enough for its stages to overlap, in memory bounded for any picture size. */
export function frameBudget(batchSize: number, frameBytes: number): number {
  const affordable = Math.floor(MOST_BYTES / frameBytes);
  return Math.max(batchSize + SPARES, Math.min(BATCHES * batchSize, affordable));
}

export type AsyncQueue<Item> = ReturnType<typeof createAsyncQueue<Item>>;

/** An ordered queue from one loop to another. It is unbounded: the producer limits how far ahead it runs. */
export function createAsyncQueue<Item>(signal: AbortSignal) {
  const ahead: Item[] = [];
  let ended = false;
  let wake: () => void = () => undefined;

  return {
    push(item: Item): void {
      ahead.push(item);
      wake();
    },
    /** No more items will come. */
    end(): void {
      ended = true;
      wake();
    },
    /** The items in order; the iteration throws the signal's reason once the signal is aborted. */
    async *items(): AsyncGenerator<Item, void, undefined> {
      const stop = (): void => wake();
      signal.addEventListener('abort', stop);
      try {
        for (;;) {
          signal.throwIfAborted();
          const item = ahead.shift();
          if (item !== undefined) yield item;
          else if (ended) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/**
 * The pictures of a stream in order, in three buffers by turns: while one is processed the next is filled, and the one
 * before stays as it is. No picture may be kept for longer.
 */
export async function* readAhead(
  stream: Pick<FrameStream, 'frameBytes' | 'readInto'>,
): AsyncGenerator<Frame> {
  let before: Frame = new Uint8Array(stream.frameBytes);
  let current: Frame = new Uint8Array(stream.frameBytes);
  let next: Frame = new Uint8Array(stream.frameBytes);
  let reading = stream.readInto(current);
  while (await reading) {
    reading = stream.readInto(next);
    // Awaited above once the picture has been processed; if processing throws, nobody needs the result any more.
    reading.catch(() => undefined);
    yield current;
    [before, current, next] = [current, next, before];
  }
}
