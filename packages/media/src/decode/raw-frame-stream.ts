import { type ByteSink } from '../ffmpeg/byte-pipe';

/** The source of the bytes; a paused source delivers nothing. */
interface Flow {
  pause(): void;
  resume(): void;
}

/**
 * Cuts a byte stream into frames, each copied once into the caller's buffer. The stream is paused while no buffer is
 * waiting, so the process behind it blocks on its full pipe: there is no other back-pressure.
 */
export class RawFrameStream implements ByteSink {
  private flow: Flow | undefined;
  /** Bytes that arrived after the end of a frame; they stay in place because the flow is paused. */
  private spare: Uint8Array | undefined;
  private waiting: { target: Uint8Array; filled: number; settle: (bytes: number) => void } | undefined;
  private ended = false;

  /** Connects the source of the bytes, which is still paused. Nothing can be read before this call. */
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
