import {
  createServer as createHttpServer,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type Duplex } from 'node:stream';
import { malformedAnswer, refuseMalformed } from './malformed-request';
import { createUnknownMethods } from './unknown-method';

/** Limit on the size of the request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often connections are checked against both timeouts. */
const CHECK_INTERVAL_MS = 5_000;
/** Longer than the pauses of a caller that polls. */
const KEEP_ALIVE_TIMEOUT_MS = 30_000;
/**
 * Longer than load balancers keep idle connections, so that the balancer is the one to close them: a request that
 * crosses a close from this side is answered with 502. nginx and ALBs keep them for 60 s, Traefik for 90, Google's
 * balancers for 600.
 */
const PROXY_KEEP_ALIVE_TIMEOUT_MS = 620_000;
/**
 * Closes a connection on which nothing has moved for this long during a request: its client has stopped reading. This
 * is far longer than any pause before a response.
 */
const SILENCE_TIMEOUT_MS = 120_000;

export interface ServerOptions {
  /** Further connections are closed at once, unanswered, with the event `drop`. Without it there is no limit. */
  readonly connectionsMax?: number;
  /** Whether a proxy keeps connections to this server open for the requests of many callers. */
  readonly isBehindProxy?: boolean;
  readonly silenceMs?: number;
}

/**
 * The HTTP server around the application: limits on connections, on slow and on oversized requests, proper responses to
 * malformed ones.
 */
export function createServer(app: RequestListener, options: ServerOptions = {}): Server {
  const { connectionsMax, isBehindProxy = false, silenceMs = SILENCE_TIMEOUT_MS } = options;
  /** The answers that each connection still waits for, in their order. */
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();
  const listener: RequestListener = (req, res) => {
    const answers = unanswered.get(req.socket) ?? new Set();
    const previous = [...answers].at(-1);
    unanswered.set(req.socket, answers.add(res));
    res.once('close', () => answers.delete(res));
    const unknownMethod = unknownMethods.methodOf(req.socket);
    if (unknownMethod !== undefined) {
      req.method = unknownMethod;
      res.shouldKeepAlive = false;
    }
    const handle = (): void => {
      // RFC 9112 3.2 requires a 400; Node would send it with an empty body.
      if (req.httpVersion === '1.1' && req.headers.host === undefined) refuseMalformed(res);
      else if (!req.socket.destroyed) app(req, res);
    };
    // Node hands over all requests that arrive in one piece, more than a thousand at worst. If all were handled at once,
    // a client that reads nothing would make this process hold the answers to all of them.
    if (previous === undefined) handle();
    else previous.once('close', handle);
  };
  const server = createHttpServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: isBehindProxy ? PROXY_KEEP_ALIVE_TIMEOUT_MS : KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      requireHostHeader: false,
    },
    listener,
  );
  const unknownMethods = createUnknownMethods(server);
  if (connectionsMax !== undefined) server.maxConnections = connectionsMax;
  server.setTimeout(silenceMs);
  // Handled like any other request: only after authentication is it known whether the body is wanted.
  server.on('checkContinue', listener);
  // An unknown expectation may be ignored (RFC 9110 10.1.1); the contract has no 417.
  server.on('checkExpectation', listener);
  server.on('clientError', (error, socket) => {
    const answers = [...(unanswered.get(socket) ?? [])];
    if (!socket.writable) socket.destroy();
    else if (answers.length > 0 || !unknownMethods.passOn(error, socket)) refuseRest(socket, answers);
  });
  return server;
}

/** Ends a connection whose further bytes cannot be read, without losing or disturbing an answer to the bytes before. */
function refuseRest(socket: Duplex, unanswered: readonly ServerResponse[]): void {
  const last = unanswered.at(-1);
  if (last === undefined) {
    socket.end(malformedAnswer());
  } else if (last.headersSent) {
    // A second status line would be read as part of the body that is being sent.
    socket.destroy();
  } else if (last.req.complete) {
    // More bytes than its Content-Length says. The request is valid and may create something: it gets its answer.
    last.shouldKeepAlive = false;
  } else if (unanswered.length === 1) {
    // Its body is broken or late, so the answer that waits for the body would never come.
    socket.end(malformedAnswer());
  } else {
    socket.destroy();
  }
}
