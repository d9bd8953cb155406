import { randomUUID } from 'node:crypto';
import {
  createServer as createHttpServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { SECURITY_HEADERS } from './http/request';

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

const STATUS = 400;
const BODY = JSON.stringify({
  error: {
    code: 'invalid_request',
    message: 'The bytes received are not a well-formed HTTP request within the size and time limits.',
    retryable: ERROR_CATALOGUE.invalid_request.retryable,
  },
});

/** Headers of every such response. Nothing in a malformed request is trusted, not even its X-Request-Id. */
function headers(): Record<string, string> {
  return {
    'X-Request-Id': randomUUID(),
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(BODY)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
}

/** The response to bytes that are not an HTTP request: no request object exists that a handler could be given. */
function malformedAnswer(): string {
  const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS]}`, ...lines, '', BODY].join('\r\n');
}

/** The same response to a request that could be parsed but that HTTP does not allow. */
function refuseMalformed(res: ServerResponse): void {
  res.writeHead(STATUS, headers()).end(BODY);
}

/** The request line and the headers of a request, up to the empty line; its method is a token of RFC 9110 5.6.2. */
const HEAD = /^([!#$%&'*+.^_`|~\w-]{1,32})( \S+ HTTP\/1\.1\r\n[^]*?\r\n\r\n)/;
/** Any method that the parser knows and no path has. */
const STAND_IN = 'UNLINK';

/**
 * Passes on requests whose method Node's parser does not know. It gives up at the method, but whether that is a 401, a
 * 404 or a 405 depends on what follows. So the head is parsed once more, with another method, over a connection of its
 * own; the body is left out, because every path refuses the method before it reads one.
 */
function createUnknownMethods(server: Server) {
  const methods = new WeakMap<Duplex, string>();
  const passedOn = new WeakSet<Duplex>();
  return {
    /** The method that was sent on a connection, if the parser did not know it. */
    methodOf: (connection: Duplex): string | undefined => methods.get(connection),
    /** Returns false if the error of the parser is another one, or if the head is not complete. */
    passOn(error: Error & { code?: string; rawPacket?: unknown }, socket: Duplex): boolean {
      // The parser fails again at each of the bytes that follow. The answer ends the connection.
      if (passedOn.has(socket)) return true;
      if (error.code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(error.rawPacket)) return false;
      const [, method, rest] = HEAD.exec(error.rawPacket.toString('latin1')) ?? [];
      if (method === undefined || rest === undefined) return false;
      const connection = new Duplex({
        read: () => undefined,
        write: (chunk, _encoding, done) => void socket.write(chunk, done),
        final: (done) => void socket.end(done),
        destroy: (failure, done) => {
          socket.destroy();
          done(failure);
        },
      });
      passedOn.add(socket);
      socket.once('close', () => connection.destroy());
      if (socket instanceof Socket)
        Object.defineProperty(connection, 'remoteAddress', { value: socket.remoteAddress });
      methods.set(connection, method);
      server.emit('connection', connection);
      connection.push(`${STAND_IN}${rest}`, 'latin1');
      return true;
    },
  };
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
