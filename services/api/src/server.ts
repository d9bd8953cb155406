import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { type Duplex } from 'node:stream';
import { malformedAnswer, refuseMalformed } from './malformed-request';

/** More than this in the request line and headers is refused. */
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often connections are checked against both timeouts. */
const CHECK_INTERVAL_MS = 5_000;
/**
 * Longer than a load balancer keeps idle connections, so that it is the one to close them: a request that crosses a close
 * from here is answered with 502. nginx and ALBs keep them for 60 s, Traefik for 90, Google's balancers for 600.
 */
const KEEP_ALIVE_TIMEOUT_MS = 620_000;
/**
 * A connection on which nothing has moved for this long during a request is closed: its client reads no more. Far
 * longer than any pause before an answer: what a request waits for, it waits for seconds.
 */
const SILENCE_TIMEOUT_MS = 120_000;

/** The HTTP server around the application: bounds for slow and oversized requests, a clean end for malformed ones. */
export function createServer(app: RequestListener, silenceMs: number = SILENCE_TIMEOUT_MS): Server {
  /** Connections with an answer under way: a second status line on them would be read as part of its body. */
  const answering = new WeakSet<Duplex>();
  const listener: RequestListener = (req, res) => {
    answering.add(req.socket);
    res.once('close', () => answering.delete(req.socket));
    // RFC 9112 3.2, which Node would follow with an empty body.
    if (req.httpVersion === '1.1' && req.headers.host === undefined) refuseMalformed(res);
    else app(req, res);
  };
  const server = createHttpServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      requireHostHeader: false,
    },
    listener,
  );
  server.setTimeout(silenceMs);
  // Handled like any other request: whether its body is wanted is known only after it was authenticated.
  server.on('checkContinue', listener);
  // An expectation that nobody knows may be ignored (RFC 9110 10.1.1); the contract has no 417.
  server.on('checkExpectation', listener);
  server.on('clientError', (_error, socket) => {
    if (socket.writable && !answering.has(socket)) socket.end(malformedAnswer());
    else socket.destroy();
  });
  return server;
}
