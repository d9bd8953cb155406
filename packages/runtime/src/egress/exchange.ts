import { type Dispatcher } from 'undici';
import { type Connection, discard, openConnection } from './connection';
import { type Destination, resolveDestination } from './destination';
import { withDeadline } from './deadline';
import { EgressError } from './egress-error';
import { type KeptConnections } from './kept-connections';
import { type EgressPolicy } from './policy';

const USER_AGENT = 'lipsync-service/1.0';

export interface Request {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface ExchangeOptions {
  policy: EgressPolicy;
  signal: AbortSignal;
  /** Connections that may be used again, and where this one may be left; without it, it is gone when this settles. */
  kept?: KeptConnections;
}

/**
 * One HTTP/1.1 request on one vetted connection. Redirects are handed to `consume` like any response; bodies are never
 * decompressed. A kept connection may be closed by the other side in the moment in which it is used again: a request
 * that got no answer on one is sent once more on a new one, so what is sent over kept connections must bear being
 * received twice.
 */
export async function exchange<T>(
  url: URL,
  request: Request,
  options: ExchangeOptions,
  consume: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const { kept, signal } = options;
  const route = await connect(url, options, kept);
  try {
    return await converse(url, request, route, options, consume);
  } catch (error) {
    if (!(error instanceof Unanswered) || !route.connection.isReused || signal.aborted) throw causeOf(error);
  }
  try {
    return await converse(url, request, await connect(url, options, undefined), options, consume);
  } catch (error) {
    throw causeOf(error);
  }
}

interface Route {
  destination: Destination;
  connection: Connection;
}

/** The connection broke before an answer came. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * Says whether a request failed because its connection was gone, be it before the first byte was sent (then the client has
 * asked for another one and got the EgressError of `openConnection`). An answer that cannot be read is an answer.
 */
function isBroken(error: unknown): boolean {
  if (error instanceof EgressError) return error.reason === 'connection_failed';
  return error instanceof Error && 'code' in error && BROKEN.has(String(error.code));
}

function causeOf(error: unknown): unknown {
  return error instanceof Unanswered ? error.cause : error;
}

/** Vets the destination, and takes one of the kept connections to it or opens one. */
function connect(
  url: URL,
  { policy, signal }: ExchangeOptions,
  kept: KeptConnections | undefined,
): Promise<Route> {
  return withDeadline(policy.connectTimeoutMs, signal, async (limited) => {
    const destination = await resolveDestination(url, policy, limited.signal);
    const dialling = { ca: policy.ca, signal: limited.signal };
    const connection = kept?.take(destination) ?? (await openConnection(url.origin, destination, dialling));
    return { destination, connection };
  });
}

async function converse<T>(
  url: URL,
  request: Request,
  { destination, connection }: Route,
  { signal, kept }: ExchangeOptions,
  consume: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  let isReadToTheEnd = false;
  try {
    const response = await connection.client
      .request({
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...request.headers },
        body: request.body ?? null,
        reset: kept === undefined,
        signal,
      })
      .catch((cause: unknown) => {
        throw isBroken(cause) ? new Unanswered('there was no answer', { cause }) : cause;
      });
    // Leaving a body unread is normal here; its late errors concern nobody.
    response.body.on('error', () => undefined);
    const result = await consume(response);
    isReadToTheEnd = response.body.readableEnded;
    return result;
  } finally {
    if (kept !== undefined && isReadToTheEnd) kept.keep(destination, connection);
    else await discard(connection);
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
