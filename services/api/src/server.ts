import { randomUUID } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { errorResponse, ServiceError } from '@lipsync/domain';
import { SECURITY_HEADERS } from './http/request';

/** Limit on the size of the request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Longer than load balancers keep idle connections, so that the balancer is the one to close them: a request that
 * crosses a close from this side is answered with 502. nginx and ALBs keep them for 60 s, Traefik for 90, Google's
 * balancers for 600.
 */
const PROXY_KEEP_ALIVE_MS = 620_000;

const TIMEOUTS = {
  /** From a connection's start, or a later request's first byte, to the end of the request's headers. */
  headersMs: 10_000,
  /** From the same moment to the end of its body. */
  requestMs: 30_000,
  /** How often connections are checked against both. */
  checkEveryMs: 5_000,
  /** Between requests. Longer than the pauses of a caller that polls. */
  keepAliveMs: 30_000,
  /**
   * Closes a connection on which nothing has moved for this long during a request: its client has stopped reading. This
   * is far longer than any pause before a response.
   */
  silenceMs: 120_000,
};

export interface ServerOptions {
  /** Further connections are closed at once, unanswered, with the event `drop`. Without it there is no limit. */
  readonly connectionsMax?: number;
  /** Whether a proxy keeps connections to this server open for the requests of many callers. */
  readonly isBehindProxy?: boolean;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
}

/** What a connection has sent. */
interface Connection {
  /** The newest request. */
  readonly last: IncomingMessage;
  /** The answers that it still waits for, in their order. */
  readonly unanswered: Set<ServerResponse>;
}

/**
 * The HTTP server around the application: limits on connections, on slow and on oversized requests, proper responses to
 * malformed ones.
 */
export function createServer(app: RequestListener, options: ServerOptions = {}): Server {
  const { connectionsMax, isBehindProxy = false } = options;
  const keepAliveMs = isBehindProxy ? PROXY_KEEP_ALIVE_MS : TIMEOUTS.keepAliveMs;
  const timeouts = { ...TIMEOUTS, keepAliveMs, ...options.timeouts };
  const connections = new WeakMap<Duplex, Connection>();
  const listener: RequestListener = (req, res) => {
    const unanswered = connections.get(req.socket)?.unanswered ?? new Set();
    const previous = [...unanswered].at(-1);
    connections.set(req.socket, { last: req, unanswered: unanswered.add(res) });
    res.once('close', () => unanswered.delete(res));
    const handle = (): void => {
      // RFC 9112 3.2 requires a 400; Node would send it with an empty body.
      if (req.httpVersion === '1.1' && req.headers.host === undefined) {
        res.writeHead(MALFORMED.status, headersOf(MALFORMED)).end(MALFORMED.body);
      } else if (req.socket.writable) app(req, res);
    };
    // Node hands over all requests that arrive in one piece, more than a thousand at worst. If all were handled at once,
    // a client that reads nothing would make this process hold the answers to all of them.
    if (previous === undefined) handle();
    else previous.once('close', handle);
  };
  const server = createHttpServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
      requireHostHeader: false,
    },
    listener,
  );
  // A client may close its side behind its last request (RFC 9112 9.6). Node documents no option for that; without this
  // property, it closes the other side too, and a response that is not written yet is lost.
  Object.assign(server, { httpAllowHalfOpen: true });
  if (connectionsMax !== undefined) server.maxConnections = connectionsMax;
  server.setTimeout(timeouts.silenceMs);
  // Handled like any other request: only after authentication is it known whether the body is wanted.
  server.on('checkContinue', listener);
  // An unknown expectation may be ignored (RFC 9110 10.1.1); the contract has no 417.
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || isUnused(socket)) socket.destroy();
    else
      endWith(error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? LATE : MALFORMED, socket, connections.get(socket));
  });
  return server;
}

/**
 * Whether nothing was ever sent on a connection. Browsers and load balancers connect ahead of need, and would take an
 * answer for that to their first request.
 */
function isUnused(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

/** Ends a connection whose further bytes cannot be read, without losing or disturbing an answer to the bytes before. */
function endWith(refusal: Refusal, socket: Duplex, connection: Connection | undefined): void {
  const answers = [...(connection?.unanswered ?? [])];
  // Valid, and may create something: it gets its answer, which is the last one on this connection.
  const whole = answers.findLast(({ req }) => req.complete);
  // Its body is broken or late, so the answer that waits for the body would never come.
  const broken = answers.find(({ req }) => !req.complete);
  if (whole?.headersSent === true || broken?.headersSent === true) {
    // A second status line would be read as part of the body that is being sent.
    socket.destroy();
  } else if (whole !== undefined) {
    whole.shouldKeepAlive = false;
  } else if (broken === undefined && connection?.last.complete === false) {
    // The rest of a request that was answered before its body had come.
    socket.end();
  } else {
    socket.end(written(refusal));
  }
}

/** An answer to bytes that never reach the application. */
interface Refusal {
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  readonly body: string;
}

const MALFORMED = refusal(
  'invalid_request',
  'This is not a well-formed HTTP request within the size limits.',
);
const LATE = refusal('service_unavailable', 'The rest of the request did not arrive in time; send it again.');

function refusal(code: ErrorCode, detail: string): Refusal {
  const { httpStatus, retryAfterSeconds } = ERROR_CATALOGUE[code];
  const body = JSON.stringify(errorResponse(new ServiceError(code, { detail })));
  return { status: httpStatus ?? 503, retryAfterSeconds, body };
}

/** Nothing in such a request is trusted, not even its X-Request-Id. */
function headersOf({ retryAfterSeconds, body }: Refusal): Record<string, string> {
  return {
    'X-Request-Id': randomUUID(),
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    ...(retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    Connection: 'close',
  };
}

/** The response as bytes, for where no response object exists. */
function written(refusal: Refusal): string {
  const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines, '', refusal.body].join(
    '\r\n',
  );
}

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
    // Node counts a connection on which nothing was sent yet as busy.
    for (const socket of sockets) if (isUnused(socket)) socket.destroy();
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
