import { type IncomingMessage } from 'node:http';
import { request as sendRequest } from 'node:https';
import { types } from 'node:util';
import { type Connection, discard, openConnection } from './connection';
import { type Destination, resolveDestination } from './destination';
import { withDeadline } from './deadline';
import { EgressError } from './egress-error';
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

/** The connection broke before an answer came. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Says whether a request failed because its connection was gone, be it before the first byte was sent (then the client has
 * asked for another one and got the EgressError of `openConnection`). An answer that cannot be read is an answer.
 */
function isBroken(error: unknown): boolean {
  if (error instanceof EgressError) return error.reason === 'connection_failed';
  return types.isNativeError(error) && 'code' in error && BROKEN.has(String(error.code));
}

function causeOf(error: unknown): unknown {
  return error instanceof Unanswered ? error.cause : error;
}

/** Vets the destination, and takes one of the kept connections to it or opens one. */
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
    // Leaving a body unread is normal here; its late errors concern nobody.
    response.on('error', () => undefined);
    const result = await consume(response);
    isReadToTheEnd = response.readableEnded;
    return result;
  } finally {
    if (kept !== undefined && isReadToTheEnd) kept.keep(destination, connection);
    else discard(connection);
  }
}

/** Resolves with the head of the answer. */
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
    // Also after the answer: what breaks its body is told by both.
    sent.once('response', resolve).on('error', reject).end(body);
  });
}

/** Gives every failure of the other side one of the published reasons. */
export function toEgressError(error: unknown): EgressError {
  return error instanceof EgressError
    ? error
    : new EgressError('connection_failed', undefined, { cause: error });
}

/** The first value of a response header, or null. */
export function headerOf(response: IncomingMessage, name: string): string | null {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
