import { type ErrorCode, isErrorCode } from '@lipsync/contract';

/**
 * The error code of a failed row. A missing code, or one that this version does not know, is shown as internal_error.
 */
export function storedErrorCode(stored: string | null): ErrorCode {
  return stored !== null && isErrorCode(stored) ? stored : 'internal_error';
}
