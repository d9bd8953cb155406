/** A fixed set of frame buffers; a taker that finds all of them out waits for the next one to come back. */
export class FrameSlots {
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
