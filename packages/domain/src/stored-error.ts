import { type ErrorBody, type ErrorCode, isErrorCode } from '@lipsync/contract';
import { errorBody } from './service-error';

/**
 * The error of a failed row, as its column `error_code` holds it: the code, and where more is known than the code says
 * (which limit, what was found), the sentence that customers read in place of the catalogue's.
 */
export type StoredError = ErrorCode | `${ErrorCode}: ${string}`;

export function storedError(code: ErrorCode, sentence?: string): StoredError {
  return sentence === undefined ? code : `${code}: ${sentence}`;
}

/**
 * The error code of a failed row. A missing code, or one that this version does not know, is shown as internal_error.
 */
export function storedErrorCode(stored: string | null): ErrorCode {
  const [code = ''] = stored?.split(': ', 1) ?? [];
  return isErrorCode(code) ? code : 'internal_error';
}

/** The error object of a failed row. `about` names the part of the request that failed. */
export function storedErrorBody(stored: string | null, about?: string): ErrorBody {
  const body = errorBody(storedErrorCode(stored), about);
  const sentence = stored?.startsWith(`${body.code}: `) ? stored.slice(body.code.length + 2) : undefined;
  if (sentence === undefined) return body;
  return { ...body, message: about === undefined ? sentence : `${about}: ${sentence}` };
}
