import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from '../servers/listen';
import { allowBrowsers, answerPreflight } from './cors';
import { createFaultPlan, type FaultPlan } from './faults';
import { getObject } from './get-object';
import { route } from './route';
import { accessDenied, S3Error } from './s3-error';
import { parseS3Request, type S3Request } from './s3-request';
import { sendXml } from './send-xml';
import { type S3Access, type S3KeyPair, verifySignature } from './signature';
import { openStore, type Store } from './store';
import { xmlError } from './xml';

export interface S3ServerOptions {
  /** 0, the default, selects a free port. */
  port?: number;
  /** The directory of the buckets. By default a temporary directory that is deleted with the server. */
  dataDir?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  /** A second pair, which may only put objects under `uploads/`. */
  uploadCredentials?: S3KeyPair;
  /** Accepts x-amz-… headers that are not signed, as Ceph 16.2 does on a signed URL. */
  lenient?: boolean;
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
  readonly uploadCredentials: S3KeyPair;
  readonly faults: FaultPlan;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;

/**
 * An S3 server for development and tests: path-style addresses, disk-backed, streaming, and strict about signatures,
 * because with a store that accepts any upload every test of signed URLs would pass.
 */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const fresh = newKeyPair();
  const credentials = {
    accessKeyId: options.accessKeyId ?? fresh.accessKeyId,
    secretAccessKey: options.secretAccessKey ?? fresh.secretAccessKey,
  };
  const uploadCredentials = options.uploadCredentials ?? newKeyPair();
  const access: S3Access = {
    region: 'us-east-1',
    keyPairs: [credentials, uploadCredentials],
    lenient: options.lenient ?? false,
  };
  const isUploader = (accessKeyId: string): boolean => accessKeyId === uploadCredentials.accessKeyId;
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
    handle(message, response, { store, access, isUploader, faults, now }).catch((error: unknown) =>
      sendError(response, error),
    );
  });
  // Longer than any client keeps an idle connection, so that a request never meets a socket that is being closed.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listenOnLoopback(server, options.port);

  return {
    ...credentials,
    region: access.region,
    uploadCredentials,
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
  access: S3Access;
  isUploader: (accessKeyId: string) => boolean;
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
  const { store } = parts;
  const { reset } = fault;
  if (isPublicRead(request, store)) return getObject({ request, response, store, reset });
  const claim = await verifySignature(request, parts.access, parts.now());
  if (parts.isUploader(claim.accessKeyId) && !isPlainUpload(request)) throw accessDenied('Access Denied');
  await route(request)({ request, claim, response, store, reset });
}

const newKeyPair = (): S3KeyPair => ({
  accessKeyId: `dev${randomBytes(8).toString('hex')}`,
  secretAccessKey: randomBytes(20).toString('hex'),
});

/** An unsigned request for an object that everybody may read. */
function isPublicRead({ method, bucket, key, query, headers }: S3Request, store: Store): boolean {
  const isSigned = headers['authorization'] !== undefined || query.has('X-Amz-Signature');
  if (isSigned || !['GET', 'HEAD'].includes(method) || key === '') return false;
  return store.bucket(bucket).get(key)?.publicRead ?? false;
}

/** What `s3:PutObject` on `uploads/*` allows: no source to read and no access list to set. */
function isPlainUpload({ method, key, headers }: S3Request): boolean {
  const needsMore = Object.keys(headers).some((name) => /^x-amz-(copy-source|acl|grant-)/.test(name));
  return method === 'PUT' && key.startsWith('uploads/') && !needsMore;
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
