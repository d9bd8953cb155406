import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { listenOnLoopback } from './servers/ports';

/** A request exactly as it arrived. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw bytes, over which signatures are computed. */
  body: Buffer;
  receivedAtMs: number;
}

/** The reply to a request, given the number of earlier requests. */
export type ReceiverScript = ReceiverReply | ((request: ReceivedRequest, index: number) => ReceiverReply);

/** An HTTPS server on loopback that replies according to a script and records its requests. */
export interface HttpsReceiver {
  readonly port: number;
  /** `ip:port`, the target of an egress route. */
  readonly address: string;
  /** PEM of the CA that signed the server's certificate. */
  readonly ca: string;
  readonly requests: readonly ReceivedRequest[];
  /** The number of TLS connections so far. */
  connections(): number;
  /** A URL with the first host name and the real port. */
  url(path?: string): string;
  /** Replaces the script from the next request on. */
  reply(script: ReceiverScript): void;
  /** The oldest request that no `next` call has returned yet. Waits for it. */
  next(): Promise<ReceivedRequest>;
  /** Waits until the condition holds for the requests received so far. */
  until(condition: (requests: readonly ReceivedRequest[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** A limit for hangs, not for speed. */
const DEADLINE_MS = 120_000;

/** Starts a receiver that replies 200 with an empty body until told otherwise. */
export async function startHttpsReceiver(options: {
  hostnames: readonly string[];
  authority?: CertificateAuthority;
  port?: number;
  script?: ReceiverScript;
}): Promise<HttpsReceiver> {
  const authority = options.authority ?? (await createCertificateAuthority());
  const requests: ReceivedRequest[] = [];
  const arrivals = new EventEmitter().setMaxListeners(0);
  let script: ReceiverScript = options.script ?? { status: 200 };
  let taken = 0;

  const receive = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request: ReceivedRequest = {
      method: message.method ?? '',
      path: message.url ?? '',
      headers: message.headers,
      body: await buffer(message),
      receivedAtMs: Date.now(),
    };
    const index = requests.push(request) - 1;
    const reply = typeof script === 'function' ? script(request, index) : script;
    arrivals.emit('request');
    await sendReply(reply, response);
  };
  const server = createServer(await authority.issue(options.hostnames), (message, response) => {
    // A client may give up while sending.
    receive(message, response).catch(() => response.destroy());
  });
  let connections = 0;
  server.on('secureConnection', () => (connections += 1));
  const port = await listenOnLoopback(server, options.port);

  const until = async (condition: () => boolean): Promise<void> => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    while (!condition())
      await once(arrivals, 'request', { signal }).catch(() => {
        throw new Error(`no such request within ${DEADLINE_MS} ms; got ${requests.length}`);
      });
  };

  return {
    port,
    address: `127.0.0.1:${port}`,
    ca: authority.cert,
    requests,
    connections: () => connections,
    url: (path = '/') => `https://${options.hostnames[0]}:${port}${path}`,
    reply: (next) => {
      script = next;
    },
    next: async () => {
      const wanted = taken++;
      await until(() => requests.length > wanted);
      const request = requests[wanted];
      if (request === undefined) throw new Error('the request is gone');
      return request;
    },
    until: (condition) => until(() => condition(requests)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What a scripted receiver does with a request. */
export type ReceiverReply =
  | {
      status: number;
      headers?: Readonly<Record<string, string>>;
      body?: string | Uint8Array | (() => Readable);
    }
  /** Reads the request and never replies. */
  | 'hang'
  /** Reads the request and resets the connection. */
  | 'reset'
  /** Status 200 and headers, then one byte every 50 ms for ever. */
  | 'drip'
  /** Status 200, then bytes as fast as the client accepts them, for ever. */
  | 'endless';

/** Sends one reply. Returns when it is complete or the client has gone. */
async function sendReply(reply: ReceiverReply, response: ServerResponse): Promise<void> {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const { status, headers, body } =
    typeof reply === 'string' ? { status: 200, headers: {}, body: UNENDING[reply] } : reply;
  response.writeHead(status, headers);
  if (typeof body === 'function') await pipeline(body(), response).catch(() => undefined);
  else response.end(body);
}

const UNENDING = { drip: () => Readable.from(drops()), endless: () => Readable.from(blocks()) };

async function* drops(): AsyncGenerator<string> {
  for (;;) {
    await delay(50);
    yield '.';
  }
}

function* blocks(): Generator<Buffer> {
  const block = Buffer.alloc(64 * 1024);
  for (;;) yield block;
}

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A certificate authority of one test run or local stack. Clients that get `cert` trust what it signs. */
interface CertificateAuthority {
  cert: string;
  key: string;
  /** Issues a server certificate for exactly these DNS names and IP addresses. */
  issue(hostnames: readonly string[]): Promise<KeyPair>;
}

const KEY = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
/** Clocks of containers differ slightly, and a certificate from the future would be refused. */
const BACKDATE_MS = 60 * 60 * 1000;

/** Creates an authority, without any external program. To reuse one, pass its `cert` and `key`. */
export async function createCertificateAuthority(existing?: KeyPair): Promise<CertificateAuthority> {
  const authority = existing ?? (await createRoot());
  return { ...authority, issue: (hostnames) => issue(authority, hostnames) };
}

async function createRoot(): Promise<KeyPair> {
  // TLS finds an issuer by its name, so two trusted roots with the same name would be confused.
  const name = `Local development authority ${randomUUID()}`;
  const made = await generate([{ name: 'commonName', value: name }], {
    ...KEY,
    notBeforeDate: new Date(Date.now() - BACKDATE_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

async function issue(authority: KeyPair, hostnames: readonly string[]): Promise<KeyPair> {
  const made = await generate([{ name: 'commonName', value: hostnames[0] ?? 'localhost' }], {
    ...KEY,
    notBeforeDate: new Date(Date.now() - BACKDATE_MS),
    ca: { cert: authority.cert, key: authority.key },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hostnames.map((name) =>
          isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name },
        ),
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
