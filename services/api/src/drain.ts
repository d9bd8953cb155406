import { type Server } from 'node:http';

const IDLE_CHECK_MS = 50;

/**
 * Stops taking connections and resolves when the requests under way are answered. Closing a server closes only the
 * connections that are idle at that moment: one whose answer comes later would be kept for the client's next request,
 * and would hold up the shutdown for as long as it is kept alive.
 */
export async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
  const timer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    await closed;
  } finally {
    clearInterval(timer);
  }
}
