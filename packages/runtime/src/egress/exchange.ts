import { Client, type Dispatcher } from 'undici';
import { resolveDestination } from './destination';
import { dial } from './dial';
import { withDeadline } from './deadline';
import { EgressError } from './egress-error';
import { type EgressPolicy } from './policy';

/** A response header block larger than this is an attack on memory. */
const HEADER_BYTES_MAX = 16_384;
const USER_AGENT = 'lipsync-service/1.0';

export interface Request {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

/**
 * One HTTP/1.1 request on one freshly vetted connection, which is gone when the returned promise settles. Connections
 * are not reused: each request is vetted by today's answers, and no idle connection can close under a POST.
 * Redirects are handed to `consume` like any response; bodies are never decompressed.
 */
export async function exchange<T>(
  url: URL,
  request: Request,
  options: { policy: EgressPolicy; signal: AbortSignal },
  consume: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const socket = await withDeadline(options.policy.connectTimeoutMs, options.signal, async ({ signal }) => {
    const destination = await resolveDestination(url, options.policy, signal);
    return dial(destination, { ca: options.policy.ca, signal });
  });
  const client = new Client(url.origin, {
    connect: (_target, callback) =>
      // Later, not at once: undici does not resume its queue from within its own connect call.
      queueMicrotask(() =>
        // A destroyed socket means that the one connection was used up: there is no second one.
        socket.destroyed ? callback(new EgressError('connection_failed'), null) : callback(null, socket),
      ),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    // The caller's total deadline rules; undici's own timers would only add a second truth.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const response = await client.request({
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      reset: true,
      signal: options.signal,
    });
    // Leaving a body unread is normal here; its late errors concern nobody.
    response.body.on('error', () => undefined);
    return await consume(response);
  } finally {
    await client.destroy();
    socket.destroy();
  }
}

/** Gives every failure of the other side one of the published reasons. */
export function toEgressError(error: unknown): EgressError {
  return error instanceof EgressError
    ? error
    : new EgressError('connection_failed', undefined, { cause: error });
}

/** The first value of a response header, or null. */
export function headerOf(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
