import { type IncomingMessage } from 'node:http';
import { request as sendRequest } from 'node:https';
import { types } from 'node:util';
import { type Connection, discard, openConnection } from './connection';
import { withDeadline } from './deadline';
import { type Destination, resolveDestination } from './destination';
import { EgressError, isOwnFault } from './egress-error';
import { type KeptConnections } from './kept-connections';
import { type EgressPolicy } from './policy';

const USER_AGENT = 'lipsync-service/1.0';
/** A response header block larger than this is an attack on memory. */
const HEADER_BYTES_MAX = 16_384;

export interface Request {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface ExchangeOptions {
  policy: EgressPolicy;
  signal: AbortSignal;
  /**
   * Connections for reuse; this one may be added to them. Without this option it is closed when the exchange settles.
   */
  kept?: KeptConnections;
}

/**
 * One HTTP/1.1 request on one vetted connection. Redirects are passed to `consume` like any response, and bodies are
 * never decompressed. The other side may close a kept connection in the moment when it is reused. A request that got no
 * response on one is therefore sent once more on a new connection, so whatever is sent over kept connections must
 * tolerate being received twice.
 */
export async function exchange<T>(
  url: URL,
  request: Request,
  options: ExchangeOptions,
  consume: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const { kept, signal } = options;
  const route = await connect(url, options, kept);
  try {
    return await converse(url, request, route, options, consume);
  } catch (error) {
    if (!(error instanceof Unanswered) || !route.connection.isReused || signal.aborted) throw causeOf(error);
  }
  try {
    return await converse(url, request, await connect(url, options), options, consume);
  } catch (error) {
    throw causeOf(error);
  }
}

interface Route {
  destination: Destination;
  connection: Connection;
}

/** The connection broke before a response came. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Says whether a request failed because its connection was gone. That may happen before the first byte was sent; the
 * client has then asked for another connection and got the EgressError of `openConnection`. An unreadable response
 * counts as a response.
 */
function isBroken(error: unknown): boolean {
  if (error instanceof EgressError) return error.reason === 'connection_failed';
  return types.isNativeError(error) && 'code' in error && BROKEN.has(String(error.code));
}

function causeOf(error: unknown): unknown {
  return error instanceof Unanswered ? error.cause : error;
}

/** Vets the destination, and reuses a kept connection to it or opens a new one. */
function connect(
  url: URL,
  { policy, signal, kept }: ExchangeOptions,
  reusable?: KeptConnections,
): Promise<Route> {
  return withDeadline(policy.connectTimeoutMs, signal, async (limited) => {
    const destination = await resolveDestination(url, policy, limited.signal);
    const dialling = { ca: policy.ca, signal: limited.signal, keepAlive: kept !== undefined };
    const connection = reusable?.take(destination) ?? (await openConnection(destination, dialling));
    return { destination, connection };
  });
}

async function converse<T>(
  url: URL,
  request: Request,
  { destination, connection }: Route,
  { signal, kept }: ExchangeOptions,
  consume: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  let isReadToTheEnd = false;
  try {
    const response = await send(url, request, connection, signal).catch((cause: unknown) => {
      throw isBroken(cause) ? new Unanswered('there was no answer', { cause }) : cause;
    });
    // Leaving a body unread is normal here, and its late errors do not matter.
    response.on('error', () => undefined);
    const result = await consume(response);
    isReadToTheEnd = response.readableEnded;
    return result;
  } finally {
    if (kept !== undefined && isReadToTheEnd) kept.keep(destination, connection);
    else discard(connection);
  }
}

/** Resolves with the head of the response. */
function send(
  url: URL,
  { method, headers, body }: Request,
  { agent }: Connection,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(url, {
      ...{ method, agent, signal, maxHeaderSize: HEADER_BYTES_MAX },
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...headers },
    });
    // Stays after the response, because both emit what breaks its body.
    sent.once('response', resolve).on('error', reject).end(body);
    // A response that changes the protocol (101) makes node:http close the request with neither of the two events.
    sent.once('close', () => reject(new EgressError('connection_failed')));
  });
}

/** Maps every failure of the other side to one of the published reasons; our own faults stay what they are. */
export function toEgressError(error: unknown): unknown {
  return error instanceof EgressError || isOwnFault(error)
    ? error
    : new EgressError('connection_failed', undefined, { cause: error });
}

/** The first value of a response header, or null. */
export function headerOf(response: IncomingMessage, name: string): string | null {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
