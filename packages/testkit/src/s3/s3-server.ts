import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenOnLoopback } from '../servers/ports';
import { answerBrowser } from './cors';
import { route } from './operations';
import { accessDenied, notImplemented, parseS3Request, S3Error, type S3Request, sendXml } from './protocol';
import { type S3Access, type S3KeyPair, verifySignature } from './signature';
import { openStore, type Store } from './store';

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
  /** False: it knows no CORS rules of buckets, as MinIO's community edition. */
  corsRules?: boolean;
  /** Created at start. */
  bucket?: string;
  /** True: the bucket keeps versions from the start. */
  versioning?: boolean;
}

export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly uploadCredentials: S3KeyPair;
  readonly faults: ReturnType<typeof createFaultPlan>;
  /** The keys of all versions, delete markers and incomplete multipart uploads of the bucket. */
  traces(): string[];
  /** Begins a multipart upload that nobody completes. */
  beginMultipart(key: string): void;
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
  const bucket = options.bucket ?? 'media';
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 's3-')));
  const store = await openStore(dataDir);
  await store.createBucket(bucket);
  if (options.versioning === true) await store.bucket(bucket).keepVersions();
  const faults = createFaultPlan();

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = parseS3Request(message);
    if (answerBrowser(request, response, (bucket) => store.bucket(bucket).corsRules())) return;
    const { fault, heldUntil } = faults.draw(request);
    await heldUntil;
    if (fault === 'slowDown') throw new S3Error(503, 'SlowDown', 'Please reduce your request rate.');
    if (fault === 'deny') throw accessDenied('Access Denied');
    const signed = isPublicRead(request, store) ? undefined : verifySignature(request, access);
    if (signed?.accessKeyId === uploadCredentials.accessKeyId && !isPlainUpload(request))
      throw accessDenied('Access Denied');
    if (options.corsRules === false && request.query.has('cors')) throw notImplemented('CORS rules');
    const reset = fault === 'reset';
    await route(request)({ request, payloadHash: signed?.payloadHash, response, store, reset });
  }

  const server = createServer((message, response) => {
    handle(message, response).catch((error: unknown) => sendError(response, error));
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
    traces: () => {
      const { versions, multipartUploads } = store.bucket(bucket);
      return [...versions('').map(({ key }) => key), ...multipartUploads.values()];
    },
    beginMultipart: (key) => void store.bucket(bucket).multipartUploads.set(randomUUID(), key),
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
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
  const { status, code, message } =
    error instanceof S3Error ? error : new S3Error(500, 'InternalError', 'We encountered an internal error.');
  // Keeps the connection open: closing it during a refused upload would reset it before the client reads the reason.
  sendXml(response, status, 'Error', { Code: code, Message: message });
}

/** Deliberate faults for every request that `applies` selects. Rates are fractions from 0 to 1. */
interface S3Faults {
  /** Requests answered with 503 SlowDown before anything is read. */
  slowDownRate: number;
  /** Requests answered with 403 AccessDenied before anything is read. */
  denyRate: number;
  /** Requests whose connection is reset: uploads after their first bytes, downloads in the middle of the body. */
  resetRate: number;
  /** Requests are not processed before it resolves; one that never does makes the store silent. */
  heldUntil: Promise<void> | undefined;
  applies: (request: { method: string; key: string }) => boolean;
}

/** 1, less the rounding error of adding fractions. */
const WHOLE = 1 - 1e-9;
const NONE: S3Faults = {
  slowDownRate: 0,
  denyRate: 0,
  resetRate: 0,
  heldUntil: undefined,
  applies: () => true,
};

/** Spreads faults evenly, not randomly: a rate of 0.25 affects every fourth request, so that a test is reproducible. */
function createFaultPlan() {
  let faults = NONE;
  const due = { slowDown: 0, deny: 0, reset: 0 };
  const isDue = (kind: keyof typeof due): boolean => {
    due[kind] += faults[`${kind}Rate`];
    if (due[kind] < WHOLE) return false;
    due[kind] -= 1;
    return true;
  };
  return {
    set: (changes: Partial<S3Faults>): void => {
      faults = { ...faults, ...changes };
    },
    clear: (): void => {
      faults = NONE;
    },
    /** Decides the fate of one request. */
    draw: (request: { method: string; key: string }) => {
      if (!faults.applies(request)) return { fault: undefined, heldUntil: undefined };
      // One fault each: a request that is refused has no body to cut.
      const fault = (['slowDown', 'deny', 'reset'] as const).find(isDue);
      return { fault, heldUntil: faults.heldUntil };
    },
  };
}
