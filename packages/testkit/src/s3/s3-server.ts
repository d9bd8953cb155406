import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from '../servers/listen';
import { allowBrowsers, answerPreflight } from './cors';
import { createFaultPlan, type FaultPlan } from './faults';
import { route } from './route';
import { accessDenied, S3Error } from './s3-error';
import { parseS3Request } from './s3-request';
import { sendXml } from './send-xml';
import { type S3Credentials, verifySignature } from './signature';
import { openStore, type Store } from './store';
import { xmlError } from './xml';

export interface S3ServerOptions {
  /** 0, the default, selects a free port. */
  port?: number;
  /** The directory of the buckets. By default a temporary directory that is deleted with the server. */
  dataDir?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  /** Created at start. */
  bucket?: string;
  /** Milliseconds since the epoch. Decides whether signatures have expired. */
  now?: () => number;
}

export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly faults: FaultPlan;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;

/**
 * An S3 server for development and tests: path-style addresses, disk-backed, streaming, and strict about signatures,
 * because with a store that accepts any upload every test of signed URLs would pass.
 */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const credentials: S3Credentials = {
    accessKeyId: options.accessKeyId ?? `dev${randomBytes(8).toString('hex')}`,
    secretAccessKey: options.secretAccessKey ?? randomBytes(20).toString('hex'),
    region: 'us-east-1',
  };
  const bucket = options.bucket ?? 'media';
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 's3-')));
  const store = await openStore(dataDir);
  await store.createBucket(bucket);
  const faults = createFaultPlan();
  const now = options.now ?? Date.now;

  const server = createServer((message, response) => {
    response.setHeader('x-amz-request-id', randomBytes(8).toString('hex').toUpperCase());
    allowBrowsers(message, response);
    if (message.method === 'OPTIONS') return answerPreflight(message, response);
    handle(message, response, { store, credentials, faults, now }).catch((error: unknown) =>
      sendError(response, error),
    );
  });
  // Longer than any client keeps an idle connection, so that a request never meets a socket that is being closed.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listenOnLoopback(server, options.port);

  return {
    ...credentials,
    endpoint: `http://127.0.0.1:${port}`,
    port,
    bucket,
    faults,
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

interface Parts {
  store: Store;
  credentials: S3Credentials;
  faults: FaultPlan;
  now: () => number;
}

async function handle(message: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const request = parseS3Request(message);
  const fault = parts.faults.draw(request);
  // A server that is closed meanwhile keeps no process alive.
  if (fault.latencyMs > 0) await delay(fault.latencyMs, undefined, { ref: false });
  if (fault.slowDown) throw new S3Error(503, 'SlowDown', 'Please reduce your request rate.');
  if (fault.deny) throw accessDenied('Access Denied');
  const claim = await verifySignature(request, parts.credentials, parts.now());
  await route(request)({ request, claim, response, store: parts.store, reset: fault.reset });
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known =
    error instanceof S3Error ? error : new S3Error(500, 'InternalError', 'We encountered an internal error.');
  // Keeps the connection open: closing it during a refused upload would reset it before the client reads the reason.
  sendXml(
    response,
    known.status,
    xmlError({
      Code: known.code,
      Message: known.message,
      RequestId: String(response.getHeader('x-amz-request-id')),
    }),
  );
}
