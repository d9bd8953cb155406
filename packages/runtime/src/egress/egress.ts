import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { isPublicAddress } from '@lipsync/domain';
import { type NodeEnv } from '../env';
import { createResolver, EgressError, type EgressPolicy, type EgressRoutes } from './dial';
import {
  exchange,
  type ExchangeContext,
  headerOf,
  toEgressError,
  VettedAgent,
  withDeadline,
} from './exchange';

/** The only client for URLs from customers: https to vetted public addresses. */
export interface Egress {
  download(url: string, options: DownloadOptions): Promise<Download>;
  post(url: string, options: PostOptions): Promise<PostResponse>;
  /** Closes the connections that are kept for reuse. */
  close(): void;
}

interface EgressOptions {
  nodeEnv: NodeEnv;
  /** `https-443` for media; webhooks may use any port. */
  allowedPorts: 'https-443' | 'any';
  /** Development only: destinations that are connected to on loopback instead. */
  routes?: EgressRoutes;
  /** Development only: PEM of the CA of the routed destinations. */
  ca?: string;
}

/** For name resolution, TCP and TLS together. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** @throws Error if development routes or an extra CA are configured in production */
export function createEgress(options: EgressOptions): Egress {
  const routes: EgressRoutes = options.routes ?? new Map();
  if (options.nodeEnv === 'production' && (routes.size > 0 || options.ca !== undefined)) {
    throw new Error('EGRESS_ROUTES and EGRESS_CA_FILE are for development: refused in production');
  }
  return egressUnder({
    allowedPorts: options.allowedPorts,
    resolve: createResolver(),
    isAllowedAddress: isPublicAddress,
    routes,
    ca: options.ca,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
}

/** The settings that decide what a process may reach. */
interface EgressEnv {
  readonly NODE_ENV: NodeEnv;
  readonly EGRESS_ROUTES: EgressRoutes;
  readonly EGRESS_CA_FILE?: string | undefined;
}

/** The client under the environment's rules. Throws like `createEgress`, and if the CA cannot be read. */
export function openEgress(env: EgressEnv, allowedPorts: EgressOptions['allowedPorts']): Egress {
  return createEgress({
    nodeEnv: env.NODE_ENV,
    allowedPorts,
    routes: env.EGRESS_ROUTES,
    ...(env.EGRESS_CA_FILE === undefined ? {} : { ca: readFileSync(env.EGRESS_CA_FILE, 'utf8') }),
  });
}

/** The client under an explicit policy. Production code uses `createEgress`. */
export function egressUnder(policy: EgressPolicy): Egress {
  const single = new VettedAgent({ keepAlive: false });
  const kept = new VettedAgent({ keepAlive: true });
  return {
    download: (url, options) => download(policy, single, url, options),
    post: (url, options) => post(policy, kept.isFull ? single : kept, url, options),
    close: () => kept.destroy(),
  };
}

interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  /** Total time, from the DNS lookup to the end of what is read of the response. */
  deadlineMs: number;
}

export interface PostResponse {
  status: number;
  /** The Retry-After header as received. */
  retryAfter: string | null;
}

/** How much of a response body is read, so that a well-behaved receiver can finish writing it. */
const ANSWER_BYTES_MAX = 4_096;

/**
 * Sends a body to a customer's URL. Any status is a result; redirects are never followed. The status line and headers
 * decide, so an endless, slow or broken body after them changes nothing. The receiver may get the body twice if a kept
 * connection breaks (see `exchange`).
 * @throws EgressError, or the error of a socket that this process could not open (see `isOwnFault`)
 */
async function post(
  policy: EgressPolicy,
  agent: VettedAgent,
  url: string,
  { headers, body, deadlineMs }: PostOptions,
): Promise<PostResponse> {
  const target = parseUrl(url);
  return withDeadline(deadlineMs, undefined, ({ signal }) =>
    exchange({ policy, agent, signal }, target, { method: 'POST', headers, body }, async (response) => {
      await readSome(response);
      return { status: response.statusCode ?? 0, retryAfter: headerOf(response, 'retry-after') };
    }).catch((error: unknown) => {
      throw toEgressError(error);
    }),
  );
}

async function readSome(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) return;
    }
  } catch {
    // The headers have already decided the outcome.
  }
}

interface DownloadOptions {
  /** Receives the bytes. Ended on success, destroyed on failure. */
  to: Writable;
  maxBytes: number;
  /** Total time over all redirects, from the first DNS lookup to the last byte. */
  deadlineMs: number;
  /** Time to the first byte of the file, over all redirects: a server that stays silent must not hold a slot. */
  firstByteMs: number;
  maxRedirects: number;
  /** Called with the bytes received so far and the announced total (null if the server does not announce one). */
  onProgress?: (received: number, total: number | null) => void;
  /** Slowest acceptable transfer; by default 64 KiB/s over windows of 15 s. */
  rateFloor?: RateFloor;
  signal?: AbortSignal;
}

export interface Download {
  status: number;
  /** Media type in lower case without parameters; null if the server sends none. */
  contentType: string | null;
  bytes: number;
  /** Hex digest of the bytes as received. */
  sha256: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Streams a customer's URL into `to`. Does not check whether the content is what the caller expects (it may be an HTML
 * page).
 * @throws EgressError, the writable's own error if that failed, the reason of `options.signal`, or the error of a socket
 * that this process could not open (see `isOwnFault`)
 */
async function download(
  policy: EgressPolicy,
  agent: VettedAgent,
  url: string,
  options: DownloadOptions,
): Promise<Download> {
  return withDeadline(options.deadlineMs, options.signal, async (controller) => {
    // A file may fail before its first byte (no space, no folder). Unhandled, its error would end the process.
    options.to.on('error', (error) => controller.abort(error));
    const silence = setTimeout(() => controller.abort(new EgressError('no_answer')), options.firstByteMs);
    const transfer = { ...options, onFirstByte: () => clearTimeout(silence) };
    try {
      let next = parseUrl(url);
      for (let redirects = 0; ; redirects++) {
        const result = await fetchOnce(
          { policy, agent, signal: controller.signal },
          next,
          transfer,
          controller,
        );
        if (!(result instanceof URL)) return result;
        if (redirects >= options.maxRedirects) throw new EgressError('redirect');
        next = result;
      }
    } finally {
      clearTimeout(silence);
    }
  }).catch((error: unknown) => {
    options.to.destroy();
    throw error;
  });
}

interface Transfer extends DownloadOptions {
  onFirstByte(): void;
}

/** One hop: the download, or the URL of the redirect (which is vetted like any other when it is requested). */
async function fetchOnce(
  context: ExchangeContext,
  url: URL,
  transfer: Transfer,
  controller: AbortController,
): Promise<Download | URL> {
  const outcome = await exchange(context, url, { method: 'GET', headers: {} }, async (response) => {
    const { statusCode = 0 } = response;
    if (REDIRECTS.has(statusCode)) return { value: redirectTarget(response, url) };
    if (statusCode !== 200) throw new EgressError('http_status', statusCode);
    return settle(receive(response, transfer, controller));
  }).catch((error: unknown) => {
    // Without the download's own end, only connecting can have timed out.
    const isConnecting =
      error instanceof EgressError && error.reason === 'timeout' && !controller.signal.aborted;
    throw isConnecting ? new EgressError('no_answer') : toEgressError(error);
  });
  // An error of the sink (a full disk) is ours, so it is passed on unchanged and not as a failure of the other side.
  if ('sinkError' in outcome) throw outcome.sinkError;
  return outcome.value;
}

async function receive(
  response: IncomingMessage,
  options: Transfer,
  controller: AbortController,
): Promise<Download> {
  const announced = headerOf(response, 'content-length');
  const total = announced === null ? null : Number(announced);
  if (total !== null && total > options.maxBytes) throw new EgressError('too_large');
  const hash = createHash('sha256');
  const watch = watchRate(options.rateFloor ?? DEFAULT_RATE_FLOOR, controller);
  let bytes = 0;
  try {
    const source = metered(response, (chunk) => {
      options.onFirstByte();
      watch.received(chunk.length);
      bytes += chunk.length;
      if (bytes > options.maxBytes) throw new EgressError('too_large');
      hash.update(chunk);
      options.onProgress?.(bytes, total);
    });
    await pipeline(source, options.to, { signal: controller.signal });
  } finally {
    watch.stop();
  }
  const contentType = headerOf(response, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? null;
  return { status: response.statusCode ?? 0, contentType, bytes, sha256: hash.digest('hex') };
}

async function* metered(body: AsyncIterable<Buffer>, take: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      take(chunk);
      yield chunk;
    }
  } catch (error) {
    throw toEgressError(error);
  }
}

async function settle(work: Promise<Download>): Promise<{ value: Download } | { sinkError: Error }> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof EgressError || !types.isNativeError(error)) throw error;
    return { sinkError: error };
  }
}

function redirectTarget(response: IncomingMessage, base: URL): URL {
  const location = headerOf(response, 'location');
  if (location === null || !URL.canParse(location, base.href)) {
    throw new EgressError('redirect', response.statusCode);
  }
  return new URL(location, base);
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new EgressError('address_not_allowed');
  return new URL(url);
}

/** The slowest transfer that is worth a slot. */
interface RateFloor {
  bytesPerSecond: number;
  windowMs: number;
}

export const DEFAULT_RATE_FLOOR: RateFloor = { bytesPerSecond: 64 * 1024, windowMs: 15_000 };

/**
 * Watches one transfer: `received` counts bytes, `stop` ends the watch. Aborts with `too_slow` if a whole window passes
 * below the floor, so that a slow trickle cannot hold a slot until the deadline.
 */
function watchRate(
  floor: RateFloor,
  controller: AbortController,
): { received: (bytes: number) => void; stop: () => void } {
  let inWindow = 0;
  const needed = (floor.bytesPerSecond * floor.windowMs) / 1000;
  const timer = setInterval(() => {
    if (inWindow < needed) controller.abort(new EgressError('too_slow'));
    inWindow = 0;
  }, floor.windowMs);
  return {
    received: (bytes) => {
      inWindow += bytes;
    },
    stop: () => clearInterval(timer),
  };
}
