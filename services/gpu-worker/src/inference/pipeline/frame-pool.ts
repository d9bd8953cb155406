export type Frame = Uint8Array<ArrayBuffer>;

/**
 * A fixed number of picture buffers. Newly allocated memory costs page faults on every frame, and a limit keeps memory
 * flat.
 */
export interface FramePool {
  /** Number of buffers, free or not. */
  readonly size: number;
  /**
   * A buffer for exclusive use, as soon as one is free. Rejects with the signal's reason once the signal is aborted.
   */
  take(signal: AbortSignal): Promise<Frame>;
  giveBack(frame: Frame): void;
}

interface Waiter {
  resolve(frame: Frame): void;
  reject(reason: unknown): void;
}

/** Hands out these buffers, wherever their memory comes from. */
export function createFramePool(frames: readonly Frame[]): FramePool {
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
    size: frames.length,
    take: async (signal) => {
      signal.throwIfAborted();
      return free.pop() ?? wait(signal);
    },
    giveBack: (frame) => {
      const waiter = waiting.shift();
      if (waiter) waiter.resolve(frame);
      else free.push(frame);
    },
  };
}
