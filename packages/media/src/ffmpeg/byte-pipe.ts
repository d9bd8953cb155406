import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries } from './binaries';
import { type ChildOptions, type MediaChild, startChild } from './media-child';

/** Starts a tool that gets no input and whose output goes into a pipe. */
export async function startPipedChild(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
): Promise<{ child: MediaChild; pipe: BytePipe }> {
  const pipe = await BytePipe.open();
  try {
    const child = startChild(binaries, command, { ...options, stdout: pipe.childEnd });
    child.stdin.end();
    return { child, pipe };
  } catch (error) {
    // For example, there is no memory for another process: no child exists whose end would report this.
    pipe.destroy();
    throw error;
  }
}

/** More than the kernel buffers of a socket at once. */
const BUFFER_BYTES = 256 * 1024;

/**
 * A one-way pipe from a child process into buffers of the caller's, each byte copied once. The pipes that `spawn` makes
 * allocate memory for every read; for raw pictures that is gigabytes per minute, and the garbage collector responds
 * with a full collection every few frames. Here all reads land in one buffer. The pipe is paused while no buffer is
 * waiting, so the process behind it blocks on its full pipe: there is no other back-pressure.
 */
export class BytePipe {
  /** Bytes that arrived after the end of a buffer; they stay in place because the pipe is paused. */
  private spare: Uint8Array | undefined;
  private waiting: { target: Uint8Array; filled: number; settle: (bytes: number) => void } | undefined;
  private ended = false;

  private constructor(
    /** The child's end, for its `stdio`; to be destroyed in this process once the child has it. */
    readonly childEnd: Socket,
    private readonly source: Socket,
  ) {
    source.once('end', () => this.end()).once('close', () => this.end());
  }

  /** Rejects when the system has no socket or no temporary folder to give. */
  static async open(): Promise<BytePipe> {
    // In a folder of its own, so that nobody else can connect.
    const folder = await mkdtemp(join(tmpdir(), 'pipe-'));
    const server = createServer({ pauseOnConnect: true });
    try {
      const path = join(folder, 's');
      await once(server.listen(path), 'listening');
      const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
      const callback = (length: number, buffer: Uint8Array): boolean => {
        pipe.accept(buffer.subarray(0, length));
        return true;
      };
      const source = connect({ path, onread: { buffer: new Uint8Array(BUFFER_BYTES), callback } });
      await once(source, 'connect');
      // The child's exit tells why the other end went away.
      source.on('error', () => undefined);
      // When it is out of file descriptors, the system accepts a connection only to close it.
      const closed = once(source, 'close').then(() => {
        throw new Error('no file descriptor for a pipe');
      });
      const pipe = new BytePipe(await Promise.race([accepted, closed]), source);
      source.pause();
      return pipe;
    } finally {
      server.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Fills the whole buffer, or less at the end of the stream; resolves to the bytes written. One call at a time. */
  read(target: Uint8Array): Promise<number> {
    if (this.waiting !== undefined) throw new Error('the pipe is already being read');
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

  destroy(): void {
    this.childEnd.destroy();
    this.source.destroy();
  }

  private accept(bytes: Uint8Array): void {
    const waiting = this.waiting;
    if (waiting === undefined) {
      this.source.pause();
      this.spare = bytes;
      return;
    }
    const taken = Math.min(bytes.length, waiting.target.length - waiting.filled);
    waiting.target.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), waiting.filled);
    waiting.filled += taken;
    if (taken < bytes.length) this.spare = bytes.subarray(taken);
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
