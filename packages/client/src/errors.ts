import {
  type Asset,
  type Error as ErrorBody,
  type ErrorCatalogue,
  type PreparationRecord,
  type RenderRecord,
} from './resources';

type CodeAt<Place> = {
  [Code in ErrorCode]: Place extends ErrorCatalogue[Code]['where'] ? Code : never;
}[ErrorCode];

/** Every error code of this version. Later ones may have more, so keep a default where you tell them apart. */
export type ErrorCode = keyof ErrorCatalogue;
/** The codes with which a request can be refused. */
export type ApiErrorCode = CodeAt<'request'>;
/** The codes that a failed render or preparation can carry. */
export type RecordErrorCode = CodeAt<'record'>;
/** The codes that a failed asset can carry. */
export type AssetErrorCode = CodeAt<'asset'>;

/** All errors of this client, other than wrong arguments (`TypeError`) and the reason of your own `AbortSignal`. */
export class LipSyncError extends Error {
  override readonly name: string = 'LipSyncError';
}

/** What was under way: bytes to the object store or from it, or a request to the service, as `GET /v1/renders/ren_…`. */
export type Exchange = 'upload' | 'download' | `${'GET' | 'POST'} ${string}`;

/** No answer came: no connection, a broken one, or silence. Repeated as far as `maxRetries` and deadlines allow. */
export class ConnectionError extends LipSyncError {
  override readonly name = 'ConnectionError';

  constructor(
    readonly exchange: Exchange,
    whatHappened: string,
    options?: { cause?: unknown },
  ) {
    super(`${subjectOf(exchange)} ${whatHappened}`, options);
  }
}

/** The time of a call, yours or the default, is over. */
export class TimeoutError extends LipSyncError {
  override readonly name = 'TimeoutError';
}

/** An answer that is not in the contract, such as a load balancer's or the object store's. */
export class UnexpectedResponse extends LipSyncError {
  override readonly name = 'UnexpectedResponse';

  constructor(
    readonly exchange: Exchange,
    readonly status: number,
    /** The reason that the answer gives, such as the store's code of an error. */
    readonly detail = '',
    readonly retryAfterSeconds?: number,
  ) {
    super(`${subjectOf(exchange)} was answered with ${status}${detail === '' ? '' : ` (${detail})`}`);
  }
}

function subjectOf(exchange: Exchange): string {
  return exchange === 'upload' || exchange === 'download' ? `The ${exchange}` : exchange;
}

interface Refusal {
  status: number;
  error: ErrorBody;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
}

class ApiErrorOf<Code extends ApiErrorCode> extends LipSyncError {
  override readonly name = 'ApiError';
  readonly code: Code;
  readonly status: ErrorCatalogue[Code]['status'];
  /** The same request sent again later can succeed unchanged. */
  readonly retryable: boolean;
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, error, requestId, retryAfterSeconds }: Refusal) {
    super(error.message);
    // The catalogue is the service's own: a code and its status come together.
    this.code = error.code as Code;
    this.status = status as ErrorCatalogue[Code]['status'];
    this.retryable = error.retryable;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service refused a request. `code` tells the errors apart, for people and for the compiler. */
export type ApiError = { [Code in ApiErrorCode]: ApiErrorOf<Code> }[ApiErrorCode];
export const ApiError = ApiErrorOf as new (refusal: Refusal) => ApiError;

/** `wait` was called for a render that failed. */
export class RenderFailed extends LipSyncError {
  override readonly name = 'RenderFailed';
  readonly code: RecordErrorCode;
  /** A new render of the same inputs, with a new idempotency key, can succeed. */
  readonly retryable: boolean;

  constructor(readonly record: RenderRecord) {
    const { code, message, retryable } = reasonOf(record.error);
    super(`Render ${record.id} failed: ${message} (${code})`);
    this.code = code as RecordErrorCode;
    this.retryable = retryable;
  }
}

/** `wait` was called for a render that somebody cancelled. */
export class RenderCancelled extends LipSyncError {
  override readonly name = 'RenderCancelled';

  constructor(readonly record: RenderRecord) {
    super(`Render ${record.id} was cancelled`);
  }
}

/** `wait` was called for a preparation that failed. */
export class PreparationFailed extends LipSyncError {
  override readonly name = 'PreparationFailed';
  readonly code: RecordErrorCode;
  /** A new preparation of the same video, with a new idempotency key, can succeed. */
  readonly retryable: boolean;

  constructor(readonly record: PreparationRecord) {
    const { code, message, retryable } = reasonOf(record.error);
    super(`Preparation ${record.id} failed: ${message} (${code})`);
    this.code = code as RecordErrorCode;
    this.retryable = retryable;
  }
}

/** `wait` was called for an asset whose media could not be used. */
export class AssetFailed extends LipSyncError {
  override readonly name = 'AssetFailed';
  readonly code: AssetErrorCode;
  /** The same media, sent again, can become ready. */
  readonly retryable: boolean;

  constructor(readonly asset: Asset) {
    const { code, message, retryable } = reasonOf(asset.error);
    super(`Asset ${asset.id} failed: ${message} (${code})`);
    this.code = code as AssetErrorCode;
    this.retryable = retryable;
  }
}

/** By contract whatever failed carries its error. */
function reasonOf(error: ErrorBody | undefined): ErrorBody {
  return error ?? { code: 'internal_error', message: 'the service gave no reason', retryable: false };
}

/** Says whether the failure is transient, so that sending the same thing again may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (error instanceof UnexpectedResponse) return isTransientStatus(error.status);
  // Other conflicts are called retryable too, but wait for something that the caller does, such as sending the bytes.
  return (
    error instanceof ApiError && (isTransientStatus(error.status) || error.code === 'idempotency_in_progress')
  );
}

function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
