import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries } from './binaries';
import { type ChildExit, type ChildOptions, type MediaChild, startChild } from './media-child';

/** Starts a tool whose output goes into a pipe. The pipe is destroyed when the tool cannot be started at all. */
export function startPipedChild(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  pipe: BytePipe,
): MediaChild {
  try {
    return startChild(binaries, command, { ...options, stdout: pipe.childEnd });
  } catch (error) {
    // For example, there is no memory for another process: no child exists whose end would report this.
    pipe.childEnd.destroy();
    pipe.destroy();
    throw error;
  }
}

/**
 * Runs a tool whose output goes to `target`, so that large outputs leave nothing for the garbage collector. A child
 * that writes more than fits is stopped. Resolves to the number of bytes written.
 */
export async function runInto(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  target: Uint8Array,
): Promise<{ exit: ChildExit; bytes: number }> {
  let bytes = 0;
  let overflow: () => void = () => undefined;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const pipe = await openBytePipe({
    accept: (chunk) => {
      if (bytes + chunk.length > target.length) {
        overflow();
        return;
      }
      target.set(chunk, bytes);
      bytes += chunk.length;
    },
    end: () => end(),
  });
  const child = startPipedChild(binaries, command, options, pipe);
  overflow = () => child.kill();
  child.stdin.end();
  pipe.resume();
  await ended;
  return { exit: await child.exit, bytes };
}

/** Receives what arrives on a pipe. */
export interface ByteSink {
  /** Takes the next bytes. Their memory will be reused for others unless the pipe is paused before this returns. */
  accept(bytes: Uint8Array): void;
  /** The other end is closed or broken: no more bytes will come. May be called twice. */
  end(): void;
}

/**
 * A one-way pipe from a child process. The pipes that `spawn` makes allocate memory for every read; for raw pictures
 * that is gigabytes per minute, and the garbage collector responds with a full collection every few frames. Here all
 * reads land in one buffer.
 */
export interface BytePipe {
  /** The child's end, for its `stdio`; to be destroyed in this process once the child has it. */
  readonly childEnd: Socket;
  /** Stops reading until the next `resume`. Nothing is read before the first `resume` either. */
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** More than the kernel buffers of a socket at once. */
const BUFFER_BYTES = 256 * 1024;

/** Opens a pipe; rejects when the system has no socket or no temporary folder to give. */
export async function openBytePipe(sink: ByteSink): Promise<BytePipe> {
  // In a folder of its own, so that nobody else can connect.
  const folder = await mkdtemp(join(tmpdir(), 'pipe-'));
  const server = createServer({ pauseOnConnect: true });
  try {
    const path = join(folder, 's');
    await once(server.listen(path), 'listening');
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const ours = await connected(path, sink);
    // When it is out of file descriptors, the system accepts a connection only to close it.
    const closed = once(ours, 'close').then(() => Promise.reject(new Error('no file descriptor for a pipe')));
    const childEnd = await Promise.race([accepted, closed]);
    ours.pause();
    return {
      childEnd,
      pause: () => void ours.pause(),
      resume: () => void ours.resume(),
      destroy: () => void ours.destroy(),
    };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function connected(path: string, sink: ByteSink): Promise<Socket> {
  const callback = (length: number, buffer: Uint8Array): boolean => {
    sink.accept(buffer.subarray(0, length));
    return true;
  };
  const socket = connect({ path, onread: { buffer: new Uint8Array(BUFFER_BYTES), callback } });
  await once(socket, 'connect');
  // The child's exit tells why the other end went away.
  socket.on('error', () => undefined);
  socket.once('end', () => sink.end()).once('close', () => sink.end());
  return socket;
}
