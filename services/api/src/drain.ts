import { type Server } from 'node:http';
import { type Socket } from 'node:net';

const CHECK_MS = 50;

/**
 * Stops taking connections and resolves when the requests under way are answered. Closing a server closes only the
 * connections that are idle at that moment: one whose answer comes later would be kept for the client's next request,
 * and would hold up the shutdown for as long as it is kept alive. A client that does not send the rest of its request,
 * or does not read, is never idle: from `lastCall` on, what is left is cut off, so that what is behind the server can
 * still be closed.
 */
export type Drain = (lastCall: AbortSignal) => Promise<void>;

/** To be made before the server listens: it keeps an eye on every connection. */
export function createDrain(server: Server): Drain {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  function close(everything: boolean): void {
    if (everything) server.closeAllConnections();
    else server.closeIdleConnections();
    // Browsers and balancers connect ahead. Node takes a connection on which nothing was said yet for a busy one.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  return async (lastCall) => {
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    close(lastCall.aborted);
    const timer = setInterval(() => close(lastCall.aborted), CHECK_MS);
    try {
      await closed;
    } finally {
      clearInterval(timer);
    }
  };
}
