import { Socket } from 'node:net';

/**
 * A socket that gives up a connection on which nothing has moved for `silenceMs`. A partition leaves connections open
 * that nobody answers on any more: without this, whatever waits there (a heartbeat, a request) waits for as long as
 * the kernel repeats itself, a quarter of an hour or more, and the pool runs empty meanwhile.
 */
export function createPostgresSocket(silenceMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs, () => {
    // In the shape of the system's own time-out, which Prisma's adapter and isDatabaseUnavailable know.
    const details = { code: 'ETIMEDOUT', errno: -110, syscall: 'read' };
    socket.destroy(Object.assign(new Error('the database does not answer'), details));
  });
  return socket;
}
