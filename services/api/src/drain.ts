import { type Server } from 'node:http';

const CHECK_MS = 50;

/**
 * Stops taking connections and resolves when the requests under way are answered. Closing a server closes only the
 * connections that are idle at that moment: one whose answer comes later would be kept for the client's next request,
 * and would hold up the shutdown for as long as it is kept alive. A client that does not send the rest
 * of its request, or does not read, is never idle: from `lastCall` on, what is left is cut off, so that what is behind
 * the server can still be closed.
 */
export async function drain(server: Server, lastCall: AbortSignal): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
  const timer = setInterval(() => {
    if (lastCall.aborted) server.closeAllConnections();
    else server.closeIdleConnections();
  }, CHECK_MS);
  try {
    await closed;
  } finally {
    clearInterval(timer);
  }
}
