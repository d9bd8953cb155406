import { type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent, request as sendRequest, type RequestOptions } from 'node:https';
import { type Duplex } from 'node:stream';
import { withController } from '../time';
import {
  type Destination,
  dial,
  EgressError,
  type EgressPolicy,
  isOwnFault,
  resolveDestination,
} from './dial';

const USER_AGENT = 'lipsync-service/1.0';
/** A response header block larger than this is an attack on memory. */
const HEADER_BYTES_MAX = 16_384;

export interface Request {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface ExchangeContext {
  policy: EgressPolicy;
  /** Whether and where connections are kept for later requests. */
  agent: VettedAgent;
  signal: AbortSignal;
}

/**
 * One HTTP/1.1 request on one vetted connection. Redirects are passed to `consume` like any response, and bodies are
 * never decompressed. The other side may close a kept connection in the moment when it is reused. A request that got no
 * response on one is therefore sent once more on a new connection, so whatever is sent over kept connections must
 * tolerate being received twice.
 */
export async function exchange<T>(
  context: ExchangeContext,
  url: URL,
  request: Request,
  consume: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const response = await respond(context, url, request, true);
  // Leaving a body unread is normal here, and its late errors do not matter.
  response.on('error', () => undefined);
  try {
    return await consume(response);
  } finally {
    // A connection is kept only if its response was read to the end.
    if (!response.readableEnded) response.destroy();
  }
}

/**
 * Vets the destination, connects to it and sends the request. Resolves with the head of the response. If a kept
 * connection broke without one and the request `mayRepeat`, it is sent once more.
 */
async function respond(
  context: ExchangeContext,
  url: URL,
  request: Request,
  mayRepeat: boolean,
): Promise<IncomingMessage> {
  const { policy, agent, signal } = context;
  const connectByMs = performance.now() + policy.connectTimeoutMs;
  const connecting = <T>(work: (limited: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(connectByMs - performance.now(), signal, (limited) => work(limited.signal));
  const destination = await connecting((limited) => resolveDestination(url, policy, limited));
  const route: Route = {
    place: placeOf(destination),
    dial: () => connecting((limited) => dial(destination, { ca: policy.ca, signal: limited })),
  };
  try {
    return await send(url, request, { agent, signal, ...route });
  } catch (error) {
    if (!(error instanceof BrokenReuse)) throw error;
    if (!mayRepeat || signal.aborted) throw error.cause;
    // The other connections kept for this place are probably broken too.
    agent.forget(route.place);
    return respond(context, url, request, false);
  }
}

/** Resolves with the head of the response. */
function send(
  url: URL,
  { method, headers, body }: Request,
  options: Route & { agent: VettedAgent; signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(url, {
      ...options,
      method,
      maxHeaderSize: HEADER_BYTES_MAX,
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...headers },
    });
    // Stays after the response, because both emit what breaks its body.
    sent
      .once('response', resolve)
      .on('error', (error) => reject(isBroken(sent, error) ? new BrokenReuse('', { cause: error }) : error))
      .end(body);
    // A response that changes the protocol (101) makes node:http close the request with neither of the two events.
    sent.once('close', () => reject(new EgressError('connection_failed')));
  });
}

/** A kept connection broke before a response came. */
class BrokenReuse extends Error {
  override readonly name = 'BrokenReuse';
}

/** An unreadable response counts as a response. */
function isBroken({ reusedSocket }: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** Where connections are interchangeable, and how to open one there. */
interface Route {
  place: string;
  dial: () => Promise<Duplex>;
}

/** Shorter than servers keep idle connections (at least five seconds), so that our side closes them. */
const IDLE_MS = 4_000;
const PER_PLACE = 8;
const IN_ALL = 256;
/** Maximum age of a connection. After it, a load balancer may choose another server for the same address. */
const AGE_MS = 60_000;

/**
 * Opens connections by `dial` only. With `keepAlive` it keeps them for a few seconds. Each is reused only if its host's
 * name still resolves to the same addresses, freshly vetted. This saves the handshake, not the check.
 */
export class VettedAgent extends Agent {
  constructor({ keepAlive }: { keepAlive: boolean }) {
    // The timeout applies to a connection that waits for its next request. During a request the caller's deadline
    // decides.
    super({ keepAlive, maxFreeSockets: PER_PLACE, timeout: IDLE_MS });
  }

  override getName(options?: RequestOptions & Partial<Route>): string {
    return options?.place ?? '';
  }

  override createConnection(
    { dial: open }: RequestOptions & Route,
    callback: (error: unknown, socket?: Duplex) => void,
  ): undefined {
    open().then((socket) => callback(null, socket), callback);
  }

  /** Whether no more connections should be kept. */
  get isFull(): boolean {
    return Object.values(this.freeSockets).flat().length >= IN_ALL;
  }

  /** Closes the connections that are kept for a place. */
  forget(place: string): void {
    this.freeSockets[place]?.forEach((socket) => socket.destroy());
  }
}

/** The certificate was verified for this name, under the CA for this kind of destination. */
function placeOf({ hostname, addresses, port, routed }: Destination): string {
  const minute = Math.floor(Date.now() / AGE_MS);
  return [routed, hostname, port, minute, ...[...addresses].sort()].join(' ');
}

/**
 * Runs `work` under a total deadline and the caller's own signal. `work` gets the controller, so that it can abort
 * itself. The promise rejects with whatever aborted it (`timeout` for the deadline).
 */
export function withDeadline<T>(
  deadlineMs: number,
  outer: AbortSignal | undefined,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const limits = { signal: outer, ms: deadlineMs, overdue: () => new EgressError('timeout') };
  return withController(limits, async (controller) => {
    try {
      controller.signal.throwIfAborted();
      return await work(controller);
    } catch (error) {
      controller.signal.throwIfAborted();
      throw error;
    }
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
