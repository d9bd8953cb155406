import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What arrives on a pipe. */
export interface ByteSink {
  /** The next bytes. Their memory will hold others, unless the pipe is paused before this returns. */
  accept(bytes: Uint8Array): void;
  /** The other end is closed or broken: no more bytes will come. May be called twice. */
  end(): void;
}

/**
 * A one-way pipe from a child process. Those that `spawn` makes allocate memory for every read; for raw pictures that is
 * gigabytes a minute, and the garbage collector answers with a full collection every few frames. Here all reads land in
 * one buffer.
 */
export interface BytePipe {
  /** The child's end, for its `stdio`; to be destroyed here once the child has it. */
  readonly childEnd: Socket;
  /** Nothing is read before the first `resume`, nor from `pause` to the next one. */
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** More than the kernel keeps of a socket's bytes at once. */
const BUFFER_BYTES = 256 * 1024;

/** Rejects when the system has no socket or no temporary folder to give. */
export async function openBytePipe(sink: ByteSink): Promise<BytePipe> {
  // In a folder of its own, so that nobody else can connect.
  const folder = await mkdtemp(join(tmpdir(), 'pipe-'));
  const server = createServer({ pauseOnConnect: true });
  try {
    const path = join(folder, 's');
    await once(server.listen(path), 'listening');
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const ours = await connected(path, sink);
    // Out of file descriptors, the system takes a connection only to close it.
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
  // Why the other end went is for the child's exit to say.
  socket.on('error', () => undefined);
  socket.once('end', () => sink.end()).once('close', () => sink.end());
  return socket;
}
