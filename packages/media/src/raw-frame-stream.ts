import { type Readable } from 'node:stream';

/**
 * Cuts a byte stream into frames, each copied once into the caller's buffer. While no buffer is waiting the stream is
 * paused, so the process behind it blocks on its full pipe: that is all the back-pressure there is.
 */
export class RawFrameStream {
  private spare: Buffer | undefined;
  private waiting: { target: Uint8Array; filled: number; settle: (bytes: number) => void } | undefined;
  private ended = false;

  constructor(private readonly source: Readable) {
    source.pause();
    source.on('data', (chunk: Buffer) => this.accept(chunk));
    source.once('close', () => this.end());
    source.once('end', () => this.end());
    source.on('error', () => this.end());
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
      else this.source.resume();
    });
  }

  private accept(chunk: Buffer): void {
    const waiting = this.waiting;
    if (waiting === undefined) {
      this.spare = this.spare === undefined ? chunk : Buffer.concat([this.spare, chunk]);
      this.source.pause();
      return;
    }
    const taken = Math.min(chunk.length, waiting.target.length - waiting.filled);
    waiting.target.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), waiting.filled);
    waiting.filled += taken;
    if (taken < chunk.length) this.spare = chunk.subarray(taken);
    if (waiting.filled === waiting.target.length) {
      this.source.pause();
      this.finish();
    }
  }

  private end(): void {
    this.ended = true;
    this.finish();
  }

  private finish(): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.settle(waiting.filled);
  }
}
