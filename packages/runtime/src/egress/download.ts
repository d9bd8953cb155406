import { createHash } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { withDeadline } from './deadline';
import { EgressError } from './egress-error';
import { exchange, headerOf, toEgressError } from './exchange';
import { type EgressPolicy } from './policy';
import { DEFAULT_RATE_FLOOR, type RateFloor, type RateWatch, watchRate } from './rate-floor';

export interface DownloadOptions {
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
export async function download(
  policy: EgressPolicy,
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
        const result = await fetchOnce(policy, next, transfer, controller);
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
  policy: EgressPolicy,
  url: URL,
  transfer: Transfer,
  controller: AbortController,
): Promise<Download | URL> {
  const context = { policy, signal: controller.signal };
  const outcome = await exchange(url, { method: 'GET', headers: {} }, context, async (response) => {
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
    const source = metered(response, watch, (chunk) => {
      options.onFirstByte();
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

async function* metered(
  body: AsyncIterable<Buffer>,
  watch: RateWatch,
  take: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      watch.received(chunk.length);
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
