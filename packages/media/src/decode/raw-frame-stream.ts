import { type ByteSink } from '../ffmpeg/byte-pipe';

/** Where the bytes come from; a paused one delivers nothing. */
interface Flow {
  pause(): void;
  resume(): void;
}

/**
 * Cuts a byte stream into frames, each copied once into the caller's buffer. While no buffer is waiting the stream is
 * paused, so the process behind it blocks on its full pipe: that is all the back-pressure there is.
 */
export class RawFrameStream implements ByteSink {
  private flow: Flow | undefined;
  /** What came behind the end of a frame; it stays where it is because the flow is paused. */
  private spare: Uint8Array | undefined;
  private waiting: { target: Uint8Array; filled: number; settle: (bytes: number) => void } | undefined;
  private ended = false;

  /** Says where the bytes come from, which is paused so far. Before that nothing can be read. */
  connect(flow: Flow): void {
    this.flow = flow;
  }

  /** Fills the whole buffer, or less at the end of the stream; resolves to the bytes written. One call at a time. */
  read(target: Uint8Array): Promise<number> {
    if (this.waiting !== undefined) throw new Error('a frame is already being read');
    return new Promise((settle) => {
      this.waiting = { target, filled: 0, settle };
      const spare = this.spare;
      this.spare = undefined;
      if (spare !== undefined) this.accept(spare);
      if (this.waiting === undefined) return;
      if (this.ended) this.finish();
      else this.flow?.resume();
    });
  }

  accept(bytes: Uint8Array): void {
    const waiting = this.waiting;
    if (waiting === undefined) {
      this.flow?.pause();
      this.spare = bytes;
      return;
    }
    const taken = Math.min(bytes.length, waiting.target.length - waiting.filled);
    waiting.target.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), waiting.filled);
    waiting.filled += taken;
    if (taken < bytes.length) this.spare = bytes.subarray(taken);
    if (waiting.filled === waiting.target.length) {
      this.flow?.pause();
      this.finish();
    }
  }

  end(): void {
    this.ended = true;
    this.finish();
  }

  private finish(): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.settle(waiting.filled);
  }
}
