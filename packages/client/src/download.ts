import { ConnectionError, isTransient, LipSyncError, UnexpectedResponse } from './errors';
import { type Platform, type Sink } from './platform';
import { type Engine, type Output, type RenderRecord } from './resources';
import { repeatedly, retryAfterSeconds, withDeadline } from './time';
import { type CallOptions, connected, type Transport, webAddress, whereTo } from './transport';

export interface DownloadOptions extends CallOptions {
  onProgress?: ((receivedBytes: number, totalBytes: number) => void) | undefined;
}

/** Milliseconds without a byte that count as a broken connection. */
const STALL_MS = 60_000;
/** A URL that expires within this many milliseconds is replaced before it is used. */
const MARGIN_MS = 10_000;

/**
 * Writes an output to a sink. A broken connection is resumed where it broke, as long as the bytes are the same by their
 * entity tag (RFC 9110, 13.1.5 and 14.2), at a fresh URL if the first has expired; and the length is checked.
 */
export async function download(
  render: string | RenderRecord,
  engine: Engine,
  { sink, signal, onProgress }: DownloadOptions & { sink: Sink },
  transport: Transport,
): Promise<void> {
  const id = typeof render === 'string' ? render : render.id;
  const freshOutput = async () =>
    outputOf((await transport.get<RenderRecord>(renderPath(id), { signal })).body, engine);
  // A record may be older than its outputs, and that of an event has none: what it lacks is looked up.
  let output = typeof render === 'string' ? undefined : resultOf(render, engine)?.output;
  let received = 0;
  let total: number | undefined;
  let entityTag: string | undefined;
  let refusedAddresses = 0;

  async function transfer(progressed: () => void): Promise<void> {
    if (output === undefined || expiresSoon(output) || refusedAddresses > 0) output = await freshOutput();
    const url = webAddress(output.url);
    const error = () => new ConnectionError('download', 'stalled');
    await withDeadline({ ms: STALL_MS, signal, error }, async (attemptSignal, alive) => {
      const isResumed = received > 0 && entityTag !== undefined;
      const headers = isResumed ? { range: `bytes=${received}-`, 'if-range': entityTag ?? '' } : {};
      const response = await connected('download', () =>
        // A signed URL is valid only at its host, and the service named no other.
        transport.fetch(url, { headers, signal: attemptSignal, redirect: 'manual' }),
      );
      const { status, body } = response;
      if (status === 403) refusedAddresses += 1;
      if ((status !== 200 && status !== 206) || body === null) {
        await body?.cancel();
        throw new UnexpectedResponse(
          'download',
          status,
          whereTo(response),
          retryAfterSeconds(response.headers),
        );
      }
      const newTag = response.headers.get('etag') ?? undefined;
      if (entityTag !== undefined && newTag !== undefined && newTag !== entityTag) {
        await body.cancel();
        throw new LipSyncError('The output changed while it was downloaded');
      }
      entityTag ??= newTag;
      const length = Number(response.headers.get('content-length') ?? NaN);
      // Asked for the rest, the store may send everything: then the bytes that are here already are skipped.
      let surplus = status === 206 ? 0 : received;
      total ??= (status === 206 ? received : 0) + length;

      const reader = (body as ReadableStream<Uint8Array>).getReader();
      try {
        for (;;) {
          const { done, value } = await connected('download', () => reader.read());
          if (done) break;
          alive();
          const chunk = value.subarray(Math.min(surplus, value.length));
          surplus -= value.length - chunk.length;
          if (chunk.length === 0) continue;
          await sink.write(chunk);
          received += chunk.length;
          refusedAddresses = 0;
          progressed();
          onProgress?.(received, total);
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
      if (!Number.isNaN(total) && received !== total)
        throw new ConnectionError('download', `ended after ${received} of ${total} bytes`);
    });
  }

  try {
    await repeatedly(
      { maxRetries: transport.maxRetries, timeoutMs: Infinity, signal },
      (_, progressed) => transfer(progressed),
      (error) => isTransient(error) || (refusedAddresses === 1 && error instanceof UnexpectedResponse),
    );
  } catch (error) {
    await sink.discard(error);
    throw error;
  }
  await sink.close();
}

export function renderPath(id: string): string {
  return `/v1/renders/${encodeURIComponent(id)}`;
}

function expiresSoon(output: Output): boolean {
  return Date.parse(output.expires_at) - Date.now() < MARGIN_MS;
}

function resultOf({ engines }: RenderRecord, engine: Engine) {
  return engines.find((candidate) => candidate.engine === engine);
}

/** @throws LipSyncError if the engine was not asked for, has not completed, or failed */
function outputOf(render: RenderRecord, engine: Engine): Output {
  const result = resultOf(render, engine);
  if (result?.output !== undefined) return result.output;
  const reason =
    result === undefined
      ? 'it was not asked for'
      : `${engine} is ${result.status}${result.error === undefined ? '' : `: ${result.error.message} (${result.error.code})`}`;
  throw new LipSyncError(`Render ${render.id} has no output of ${engine}: ${reason}`);
}

/** Collects a download for those who want it as one Blob. */
export function blobSink(): Sink & { blob: () => Blob } {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  return {
    write: async (chunk) => void chunks.push(new Uint8Array(chunk)),
    close: async () => undefined,
    discard: async () => undefined,
    blob: () => new Blob(chunks, { type: 'video/mp4' }),
  };
}

export function streamSink(stream: WritableStream<Uint8Array>): Sink {
  const writer = stream.getWriter();
  return {
    write: (chunk) => writer.write(chunk),
    close: () => writer.close(),
    discard: (reason) => writer.abort(reason),
  };
}

export function openSink(
  destination: string | URL | WritableStream<Uint8Array>,
  platform: Platform,
): Promise<Sink> | Sink {
  return typeof destination === 'string' || destination instanceof URL
    ? platform.writeFile(destination)
    : streamSink(destination);
}
