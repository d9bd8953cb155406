import { type ErrorBody, type ErrorCode, isErrorCode } from '@lipsync/contract';
import { errorBody } from './service-error';

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
