import { type ErrorCode, isErrorCode } from '@lipsync/contract';

/** The code of something that failed. A code that this version does not know, or none, is shown as internal_error. */
export function storedErrorCode(stored: string | null): ErrorCode {
  return stored !== null && isErrorCode(stored) ? stored : 'internal_error';
}
