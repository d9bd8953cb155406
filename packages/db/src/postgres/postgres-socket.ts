import { Socket } from 'node:net';

/**
 * A socket that closes a connection on which nothing has moved for `silenceMs`. After a network partition, connections
 * stay open without a peer. Without this, whatever waits there (a heartbeat, a request) waits for as long as the kernel
 * retransmits, a quarter of an hour or more, and the pool runs empty meanwhile.
 */
export function createPostgresSocket(silenceMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs, () => {
    // The shape of the system's own timeout, which Prisma's adapter and isDatabaseUnavailable recognise.
    const details = { code: 'ETIMEDOUT', errno: -110, syscall: 'read' };
    socket.destroy(Object.assign(new Error('the database does not answer'), details));
  });
  return socket;
}
