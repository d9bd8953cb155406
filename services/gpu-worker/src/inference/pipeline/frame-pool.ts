/** A fixed number of picture buffers. Fresh memory costs page faults on every frame, and a bound keeps memory flat. */
export interface FramePool {
  /** A buffer nobody else uses, as soon as there is one. Rejects with the signal's reason once that is aborted. */
  take: () => Promise<Uint8Array<ArrayBuffer>>;
  giveBack: (frame: Uint8Array<ArrayBuffer>) => void;
}

/** `count` buffers of `bytes` each. */
export function createFramePool(count: number, bytes: number, signal: AbortSignal): FramePool {
  const free = Array.from({ length: count }, () => new Uint8Array(bytes));
  const waiting: { resolve(frame: Uint8Array<ArrayBuffer>): void; reject(reason: unknown): void }[] = [];
  signal.addEventListener('abort', () => {
    for (const waiter of waiting.splice(0)) waiter.reject(signal.reason);
  });

  return {
    take: () =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const frame = free.pop();
        if (frame) resolve(frame);
        else waiting.push({ resolve, reject });
      }),
    giveBack: (frame) => {
      const waiter = waiting.shift();
      if (waiter) waiter.resolve(frame);
      else free.push(frame);
    },
  };
}
