import {
  ERROR_CATALOGUE,
  type ErrorBody,
  type ErrorCode,
  type ErrorResponse,
  isErrorCode,
} from '@lipsync/contract';

const BRAND = Symbol.for('@lipsync/service-error');

interface ServiceErrorOptions {
  /** One sentence for the caller that replaces the catalogue's, for example where a request breaks the schema. */
  readonly detail?: string;
  /** Response headers beyond the catalogue's Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What caused the error, for the log only. */
  readonly cause?: unknown;
}

/** A refusal or failure that has a code of the contract. Customers may see its message. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  // A brand instead of instanceof, because two copies of this module must still recognize each other's errors.
  readonly [BRAND] = true;

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(
      options.detail ?? ERROR_CATALOGUE[code].message,
      'cause' in options ? { cause: options.cause } : {},
    );
    this.code = code;
    this.detail = options.detail;
    this.headers = options.headers ?? {};
  }
}

/** Says whether something that was thrown is a ServiceError. */
export function isServiceError(value: unknown): value is ServiceError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** The error object of a failed asset, record or engine result. `about` names the part that the message is about. */
export function errorBody(code: ErrorCode, about?: string, detail?: string | null): ErrorBody {
  return { code, message: errorMessage(code, about, detail), retryable: ERROR_CATALOGUE[code].retryable };
}

/** The detail, or else the catalogue's message, prefixed with what it is about, if that is given. */
export function errorMessage(code: ErrorCode, about?: string, detail?: string | null): string {
  const message = detail ?? ERROR_CATALOGUE[code].message;
  return about === undefined ? message : `${about}: ${message}`;
}

/** The response body for a request that failed with this error. */
export function errorResponse(error: ServiceError): ErrorResponse {
  return { error: { ...errorBody(error.code), message: error.message } };
}

/** Why a row failed, as its columns hold it. Customers read the detail in place of the catalogue's message. */
export interface Failure {
  readonly errorCode: ErrorCode;
  readonly errorDetail?: string | null;
}

/**
 * The error code of a failed row. A missing code, or one that this version does not know, is shown as internal_error.
 */
export function storedErrorCode(stored: string | null): ErrorCode {
  return stored !== null && isErrorCode(stored) ? stored : 'internal_error';
}

/** The error object of a failed row. `about` names the part of the request that failed. */
export function storedErrorBody(
  { errorCode, errorDetail }: { errorCode: string | null; errorDetail: string | null },
  about?: string,
): ErrorBody {
  const code = storedErrorCode(errorCode);
  return errorBody(code, about, code === errorCode ? errorDetail : null);
}
