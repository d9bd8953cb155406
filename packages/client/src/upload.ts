import { ConnectionError, isTransient, UnexpectedResponse } from './errors';
import { contentTypeOf, openSource, type UploadSource } from './media';
import { type Platform } from './platform';
import { type Asset, type MediaType, type Upload } from './resources';
import { repeatedly, withDeadline } from './time';
import { type CallOptions, connected, type Transport, webAddress, whereTo } from './transport';

export interface UploadOptions extends CallOptions {
  mediaType: MediaType;
  /** What to declare, if neither the type nor the name nor the first bytes of the source say it. */
  contentType?: string | undefined;
  /** Starts again at 0 when the bytes have to be sent again. */
  onProgress?: ((sentBytes: number, totalBytes: number) => void) | undefined;
}

/** Milliseconds without a byte moving, or without an answer after the last, that count as a broken connection. */
const STALL_MS = 60_000;
/** Milliseconds for the whole upload where nothing reports its progress. */
const UNOBSERVED_MS = 900_000;

/**
 * Uploads media in the three steps of the contract; returns the asset, whose checks continue in the background. Bytes
 * that can be read again are sent again after a broken connection, to a new URL if the first has expired. An upload
 * that was given up expires.
 */
export async function upload(
  source: UploadSource,
  { mediaType, contentType, onProgress, signal }: UploadOptions,
  { transport, platform }: { transport: Transport; platform: Platform },
): Promise<Asset> {
  const bytes = await openSource(source, platform);
  const request = {
    media_type: mediaType,
    content_type: await contentTypeOf(bytes, mediaType, contentType),
    size_bytes: bytes.size,
  };
  const begin = async () => (await transport.post<Upload>('/v1/uploads', { body: request, signal })).body;

  let current = await begin();
  let refusedAddresses = 0;
  await repeatedly(
    { maxRetries: transport.maxRetries, timeoutMs: Infinity, signal },
    async () => {
      if (Date.parse(current.expires_at) <= Date.now() || refusedAddresses > 0) current = await begin();
      const { upload_url, required_headers: headers } = current;
      const url = webAddress(upload_url);
      const error = () => new ConnectionError('upload', 'stalled');
      await withDeadline({ ms: STALL_MS, signal, error }, async (attemptSignal, alive) => {
        const onSent = (sentBytes: number) => {
          alive();
          onProgress?.(sentBytes, bytes.size);
        };
        onSent(0);
        const onUnobserved = () => alive(UNOBSERVED_MS);
        const put = {
          url,
          headers,
          bytes,
          onSent,
          onUnobserved,
          signal: attemptSignal,
          fetch: transport.fetch,
        };
        const { response, text } = await connected('upload', async () => {
          const answered = await platform.put(put);
          return { response: answered, text: await answered.text() };
        });
        if (response.ok) return;
        // Expired by the store's clock, if not by this one.
        if (response.status === 403) refusedAddresses += 1;
        const detail = whereTo(response) || /<Code>(\w+)</.exec(text)?.[1];
        throw new UnexpectedResponse('upload', response.status, detail);
      });
    },
    (error) =>
      bytes.isRepeatable !== false &&
      (isTransient(error) ||
        isSlowness(error) ||
        (refusedAddresses === 1 && error instanceof UnexpectedResponse)),
  );
  return (await transport.post<Asset>(`/v1/uploads/${current.id}/complete`, { signal })).body;
}

/** S3 says with 400 that bytes came too slowly. */
function isSlowness(error: unknown): boolean {
  return error instanceof UnexpectedResponse && error.detail === 'RequestTimeout';
}
