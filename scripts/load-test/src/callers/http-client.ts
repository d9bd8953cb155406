import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Whether it may be resent when a kept-alive connection was closed as it went out (RFC 9110, 9.2.2). */
  readonly repeatable: boolean;
  /** How much of the response's body is kept, in bytes; a mebibyte by default. */
  readonly bodyLimit?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, up to the request's limit. */
  readonly body: Buffer;
  readonly bodyBytes: number;
}

export interface HttpExchange {
  /** When a connection took the request, or when the client gave up waiting for a connection. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly answer: HttpAnswer | null;
  /** Why there is no response: `timeout`, or the system's error code (`ECONNREFUSED`). */
  readonly transportError: string | null;
}

export interface HttpClient {
  send(request: HttpRequest): Promise<HttpExchange>;
  close(): void;
}

const BODY_LIMIT = 1 << 20;
/** Servers close idle connections after as little as five seconds (Node's default), which must not hit a request. */
const IDLE_MS = 4_000;

/** Kept-alive connections, at most `connections` to each origin; further requests wait for one, in order. */
export function createHttpClient(options: { connections: number; timeoutMs: number }): HttpClient {
  const settings = { keepAlive: true, maxSockets: options.connections, timeout: IDLE_MS } as const;
  const http = new HttpAgent(settings);
  const https = new HttpsAgent(settings);

  const sendOnce = (outgoing: HttpRequest): Promise<HttpExchange & { readonly lostReused: boolean }> =>
    new Promise((resolve) => {
      let sentAt: number | undefined;
      const isTls = outgoing.url.startsWith('https:');
      const request = (isTls ? requestHttps : requestHttp)(outgoing.url, {
        method: outgoing.method,
        headers: outgoing.headers,
        agent: isTls ? https : http,
        // The agent's timeout is for idle connections; that of a whole request is below.
        timeout: 0,
      });
      let isTimedOut = false;
      const timer = setTimeout(() => {
        isTimedOut = true;
        request.destroy(new Error('no answer in time'));
      }, options.timeoutMs);
      const finish = (answer: HttpAnswer | null, error?: unknown): void => {
        clearTimeout(timer);
        const answeredAt = performance.now();
        // A body that the timeout cuts off ends with a different error.
        const transportError = answer !== null ? null : isTimedOut ? 'timeout' : codeOf(error);
        const lostReused =
          request.reusedSocket && (transportError === 'ECONNRESET' || transportError === 'EPIPE');
        resolve({ sentAt: sentAt ?? answeredAt, answeredAt, answer, transportError, lostReused });
      };
      request.once('socket', () => {
        sentAt = performance.now();
      });
      request.once('error', (error) => finish(null, error));
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let bodyBytes = 0;
        response.on('data', (chunk: Buffer) => {
          if (bodyBytes < (outgoing.bodyLimit ?? BODY_LIMIT)) chunks.push(chunk);
          bodyBytes += chunk.length;
        });
        response.once('error', (error) => finish(null, error));
        response.once('end', () => {
          const { statusCode: status = 0, headers } = response;
          finish({ status, headers, body: Buffer.concat(chunks), bodyBytes });
        });
      });
      request.end(outgoing.body);
    });

  return {
    async send(request) {
      const first = await sendOnce(request);
      return first.lostReused && request.repeatable ? sendOnce(request) : first;
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'connection_failed';
}

/** Undefined for what is no JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
