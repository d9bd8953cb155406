import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './servers/ports';

/** The file of a repository; `large` ones are in the store, and the hub redirects to them. */
interface HubContent {
  readonly bytes: Buffer;
  readonly large: boolean;
}

interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly range: string | null;
  readonly authorization: string | null;
  /** Whether the store was asked, which is on another origin than the hub. */
  readonly store: boolean;
}

export interface HubServer {
  readonly address: string;
  readonly requests: readonly HubRequest[];
  /** By `owner/name/path`; may be changed at any time. */
  readonly files: Map<string, HubContent>;
  /** Repositories whose terms must be accepted, and the token of somebody who did. */
  readonly gated: Map<string, string>;
  readonly faults: {
    /** Bytes after which the next answers of the store stall, one for each, until `breakOff`. */
    stallAfter: number[];
    /** The store answers 503. */
    down: boolean;
    /** The store gives other bytes than the hub states. */
    damaged: boolean;
  };
  /** Ends the connections that stalled. */
  breakOff(): void;
  close(): Promise<void>;
}

/** The commit that every revision has. */
export const HUB_COMMIT = 'c0'.repeat(20);

/** A hub of models with the addresses, headers, redirects and errors of huggingface.co. */
export async function startHubServer(content: Iterable<[string, HubContent]>): Promise<HubServer> {
  const files = new Map(content);
  const gated = new Map<string, string>();
  const requests: HubRequest[] = [];
  const faults: HubServer['faults'] = { stallAfter: [], down: false, damaged: false };
  const stalled = new Set<ServerResponse>();

  const note = ({ method = '', url = '', headers }: IncomingMessage, store: boolean): void => {
    const { range = null, authorization = null } = headers;
    requests.push({ method, path: url, range, authorization, store });
  };
  const store = createServer((request, response) => {
    note(request, true);
    if (faults.down) return void response.writeHead(503).end();
    const name = decodeURIComponent((request.url ?? '').slice(1));
    const found = files.get(name)?.bytes ?? Buffer.alloc(0);
    const bytes = faults.damaged ? Buffer.alloc(found.length, 'x') : found;
    const stallAfter = faults.stallAfter.shift();
    if (stallAfter !== undefined) stalled.add(response);
    sendObject(request, response, bytes, stallAfter);
  });
  const storeAddress = `http://127.0.0.1:${await listenOnLoopback(store)}`;

  const hub = createServer((request, response) => {
    note(request, false);
    const [, owner = '', name = '', , , ...rest] = (request.url ?? '').split('/');
    const [repo, file] = [`${owner}/${name}`, rest.join('/')];
    const key = `${repo}/${file}`;
    const found = files.get(key);
    const refuse = (status: number, code: string): unknown =>
      response.writeHead(status, { 'x-error-code': code, 'x-error-message': code }).end();
    if (![...files.keys()].some((each) => each.startsWith(`${repo}/`))) return refuse(401, 'RepoNotFound');
    const token = gated.get(repo);
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return refuse(request.headers.authorization === undefined ? 401 : 403, 'GatedRepo');
    if (found === undefined) return refuse(404, 'EntryNotFound');
    response.setHeader('x-repo-commit', HUB_COMMIT);
    if (!found.large) {
      response.setHeader('etag', `"${gitObject(found.bytes)}"`);
      response.setHeader('content-length', found.bytes.length);
      return response.end(request.method === 'HEAD' ? undefined : found.bytes);
    }
    return response
      .writeHead(302, {
        location: `${storeAddress}/${encodeURIComponent(key)}`,
        'x-linked-size': found.bytes.length,
        'x-linked-etag': `"${hexOf('sha256', found.bytes)}"`,
      })
      .end();
  });
  const address = `http://127.0.0.1:${await listenOnLoopback(hub)}`;
  return {
    ...{ address, requests, files, gated, faults },
    breakOff: () => {
      for (const response of stalled) response.destroy();
      stalled.clear();
    },
    close: async () => {
      for (const server of [hub, store]) await stop(server);
    },
  };
}

/** An object of the store: with ranges of the version that the client has. */
function sendObject(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  stallAfter: number | undefined,
): void {
  const etag = `"${hexOf('md5', bytes)}"`;
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const isPart = from > 0 && headers['if-range'] === etag;
  if (isPart && from >= bytes.length) return void response.writeHead(416).end();
  const body = isPart ? bytes.subarray(from) : bytes;
  response.writeHead(isPart ? 206 : 200, {
    etag,
    'content-length': body.length,
    ...(isPart && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  if (method === 'HEAD') return void response.end();
  if (stallAfter === undefined) response.end(body);
  else response.write(body.subarray(0, stallAfter));
}

function hexOf(algorithm: string, bytes: Buffer): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

function gitObject(bytes: Buffer): string {
  return hexOf('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]));
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
