import { open, stat } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Asset, ErrorResponse, RecordResource, RenderRequest, Upload, UploadRequest } from '@lipsync/contract';

/** A request that the service refused, with what it said. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorResponse['error'],
  ) {
    super(`${status} ${body.code}: ${body.message}`);
  }
}

/** The few calls of the public API that a render from local files takes. */
export function createApiClient({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
  async function call<T>(method: 'GET' | 'POST', url: string, body?: unknown): Promise<T> {
    const response = await fetch(new URL(url, baseUrl), {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new ApiError(response.status, (answer as ErrorResponse).error);
    return answer as T;
  }

  return {
    /** Uploads a file in the three steps of the contract; returns the asset, whose checks go on in the background. */
    async upload(file: string, mediaType: 'video' | 'audio', contentType: string): Promise<Asset> {
      const { size } = await stat(file);
      const request: UploadRequest = { media_type: mediaType, content_type: contentType, size_bytes: size };
      const upload = await call<Upload>('POST', '/v1/uploads', request);
      await putFile(upload, file);
      return call<Asset>('POST', upload.complete_url);
    },
    createRender: (request: RenderRequest) => call<RecordResource>('POST', '/v1/renders', request),
    getRender: (id: string) => call<RecordResource>('GET', `/v1/renders/${id}`),
  };
}

export type ApiClient = ReturnType<typeof createApiClient>;

async function putFile(upload: Upload, file: string): Promise<void> {
  const handle = await open(file);
  try {
    const response = await fetch(upload.upload_url, {
      method: upload.method,
      headers: upload.required_headers,
      body: Readable.toWeb(handle.createReadStream()),
      duplex: 'half',
    });
    if (!response.ok) throw new Error(`the upload was refused with ${response.status}`);
  } finally {
    await handle.close();
  }
}

export async function download(url: string, file: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`the download was refused with ${response.status}`);
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
}
