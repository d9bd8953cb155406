import { EventEmitter } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from '../servers/listen';
import { type CertificateAuthority, createCertificateAuthority } from './certificates';
import { type ReceiverReply, sendReply } from './receiver-reply';

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
  /** The oldest request that no `next` call has returned yet. Waits for it up to `deadlineMs`. */
  next(deadlineMs?: number): Promise<ReceivedRequest>;
  /** Waits until the condition holds for the requests received so far. */
  until(condition: (requests: readonly ReceivedRequest[]) => boolean, deadlineMs?: number): Promise<void>;
  close(): Promise<void>;
}

const DEADLINE_MS = 15_000;

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

  const until = (condition: () => boolean, deadlineMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      if (condition()) return resolve();
      const finish = (end: () => void) => {
        clearTimeout(timer);
        arrivals.removeListener('request', check);
        end();
      };
      const check = () => {
        if (condition()) finish(resolve);
      };
      const timer = setTimeout(() => {
        finish(() => reject(new Error(`no such request within ${deadlineMs} ms; got ${requests.length}`)));
      }, deadlineMs);
      arrivals.on('request', check);
    });

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
    next: async (deadlineMs = DEADLINE_MS) => {
      const wanted = taken++;
      await until(() => requests.length > wanted, deadlineMs);
      const request = requests[wanted];
      if (request === undefined) throw new Error('the request is gone');
      return request;
    },
    until: (condition, deadlineMs = DEADLINE_MS) => until(() => condition(requests), deadlineMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
