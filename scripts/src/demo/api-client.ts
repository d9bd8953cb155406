import { open, stat } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  OPERATIONS,
  type Asset,
  type AssetRequest,
  type Delivery,
  type ErrorResponse,
  type OperationId,
  type PreparationRequest,
  type RecordResource,
  type RenderRequest,
  type Upload,
  type UploadRequest,
} from '@lipsync/contract';

/** A request that the service refused, with what it said. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly error: ErrorResponse['error'],
  ) {
    super(`${status} ${error.code}: ${error.message}`);
  }
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface ApiClientOptions {
  baseUrl: string;
  apiKey: string;
  /** Sees every answer before it is used (tests hold them to the contract here). */
  onAnswer?: (operationId: OperationId, answer: ApiAnswer) => void;
}

/** The operations of the public API, and the upload that three of them make up. */
export function createApiClient({ baseUrl, apiKey, onAnswer }: ApiClientOptions) {
  async function call<T>(
    operationId: OperationId,
    { id, body }: { id?: string; body?: unknown } = {},
  ): Promise<T> {
    const operation = OPERATIONS.find((candidate) => candidate.operationId === operationId);
    if (operation === undefined) throw new Error(`no operation ${operationId}`);
    const response = await fetch(
      new URL(operation.path.replace('{id}', encodeURIComponent(id ?? '')), baseUrl),
      {
        method: operation.method.toUpperCase(),
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      },
    );
    const answer: unknown = await response.json();
    onAnswer?.(operationId, { status: response.status, headers: response.headers, body: answer });
    if (!response.ok) throw new ApiError(response.status, (answer as ErrorResponse).error);
    return answer as T;
  }

  return {
    /** Uploads a file in the three steps of the contract; returns the asset, whose checks go on in the background. */
    async upload(file: string, mediaType: 'video' | 'audio', contentType: string): Promise<Asset> {
      const { size } = await stat(file);
      const request: UploadRequest = { media_type: mediaType, content_type: contentType, size_bytes: size };
      const upload = await call<Upload>('create_upload', { body: request });
      await putFile(upload, file);
      return call<Asset>('complete_upload', { id: upload.id });
    },
    createUpload: (body: UploadRequest) => call<Upload>('create_upload', { body }),
    completeUpload: (id: string) => call<Asset>('complete_upload', { id }),
    createAsset: (body: AssetRequest) => call<Asset>('create_asset', { body }),
    getAsset: (id: string) => call<Asset>('get_asset', { id }),
    createPreparation: (body: PreparationRequest) => call<RecordResource>('create_preparation', { body }),
    getPreparation: (id: string) => call<RecordResource>('get_preparation', { id }),
    createRender: (body: RenderRequest) => call<RecordResource>('create_render', { body }),
    getRender: (id: string) => call<RecordResource>('get_render', { id }),
    cancelRender: (id: string) => call<RecordResource>('cancel_render', { id }),
    getWebhook: (id: string) => call<Delivery>('get_webhook', { id }),
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
  if (!response.ok || response.body === null)
    throw new Error(`the download was refused with ${response.status}`);
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
}
