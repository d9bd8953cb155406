import { createWriteStream } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Asset,
  type AssetRequest,
  conforms,
  type ErrorBody,
  isSuccess,
  type OperationId,
  operationNamed,
  type PreparationRequest,
  type RenderRequest,
  type SuccessBody,
  type Upload,
  type UploadRequest,
} from '@lipsync/contract';

/** The service refused a request; carries its error response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly error: ErrorBody,
  ) {
    super(`${status} ${error.code}: ${error.message}`);
  }
}

/** A response that is not in the contract, such as a load balancer's or the object store's. */
export class UnexpectedAnswer extends Error {
  constructor(
    what: string,
    readonly status: number,
  ) {
    super(`${what} was answered with ${status}, which is not in the contract`);
  }
}

interface ApiAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface ApiClientOptions {
  baseUrl: string;
  apiKey: string;
  /** Called with every response before it is used (tests check them against the contract here). */
  onAnswer?: (operationId: OperationId, answer: ApiAnswer) => void;
}

/** The operations of the public API, and the upload that combines three of them. */
export function createApiClient({ baseUrl, apiKey, onAnswer }: ApiClientOptions) {
  async function call<Id extends OperationId>(
    operationId: Id,
    { id, body }: { id?: string; body?: unknown } = {},
  ): Promise<SuccessBody<Id>> {
    const operation = operationNamed(operationId);
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
    const answer: unknown = parsed(await response.text());
    onAnswer?.(operationId, { status: response.status, headers: response.headers, body: answer });
    if (isSuccess(operationId, response.status, answer)) return answer;
    if (conforms('ErrorResponse', answer)) throw new ApiError(response.status, answer.error);
    throw new UnexpectedAnswer(operationId, response.status);
  }

  return {
    /**
     * Uploads a file in the three steps of the contract; returns the asset, whose checks continue in the background.
     */
    async upload(file: string, mediaType: 'video' | 'audio', contentType: string): Promise<Asset> {
      const { size } = await stat(file);
      const request: UploadRequest = { media_type: mediaType, content_type: contentType, size_bytes: size };
      const upload = await call('create_upload', { body: request });
      await putFile(upload, file);
      return call('complete_upload', { id: upload.id });
    },
    createUpload: (body: UploadRequest) => call('create_upload', { body }),
    completeUpload: (id: string) => call('complete_upload', { id }),
    createAsset: (body: AssetRequest) => call('create_asset', { body }),
    getAsset: (id: string) => call('get_asset', { id }),
    createPreparation: (body: PreparationRequest) => call('create_preparation', { body }),
    getPreparation: (id: string) => call('get_preparation', { id }),
    createRender: (body: RenderRequest) => call('create_render', { body }),
    getRender: (id: string) => call('get_render', { id }),
    cancelRender: (id: string) => call('cancel_render', { id }),
    getWebhook: (id: string) => call('get_webhook', { id }),
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
    if (!response.ok) throw new UnexpectedAnswer('the upload', response.status);
  } finally {
    await handle.close();
  }
}

/** The file appears as a whole: other programs may write or read one of that name. */
export async function download(url: string, file: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok || response.body === null)
    throw new Error(`the download was refused with ${response.status}`);
  const part = `${file}.${process.pid}.part`;
  await pipeline(Readable.fromWeb(response.body), createWriteStream(part));
  await rename(part, file);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const PAUSE_MS = 500;
/** How long the API may be unavailable, e.g. during a restart, before a caller gives up. */
const ABSENCE_MS = 120_000;

/**
 * Repeats a call while the API is unavailable or asks to try again later. Use it only for calls that may be repeated:
 * reads, and creates with an idempotency key. Every other error is thrown at once.
 */
export async function persist<T>(
  call: () => Promise<T>,
  { pauseMs = PAUSE_MS, absenceMs = ABSENCE_MS } = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() - startedAt > absenceMs) throw error;
    }
    await delay(pauseMs);
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.error.retryable;
  if (error instanceof UnexpectedAnswer) return error.status >= 500;
  // Errors of fetch itself: no connection, or a broken one. A timeout is a DOMException, which is not an Error on every
  // platform.
  if (error instanceof TypeError) return true;
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'TimeoutError';
}
