import { type Server } from 'node:http';
import { type Socket } from 'node:net';

const CHECK_MS = 50;

/**
 * Stops accepting connections and resolves when the requests in progress are answered. Closing a server closes only the
 * connections that are idle at that moment: a connection whose response comes later would stay open for the client's
 * next request and delay the shutdown for the whole keep-alive time. A client that does not send the rest of its
 * request, or does not read its response, never becomes idle. After `lastCall` aborts, the remaining connections are
 * cut, so that whatever the server depends on can still be closed.
 */
export type Drain = (lastCall: AbortSignal) => Promise<void>;

/** Must be called before the server listens, because it tracks every connection. */
export function createDrain(server: Server): Drain {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  function close(everything: boolean): void {
    if (everything) server.closeAllConnections();
    else server.closeIdleConnections();
    // Browsers and load balancers connect ahead of need. Node counts a connection on which nothing was sent yet as
    // busy.
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
