import { ApiError, ConnectionError, TimeoutError } from '@lipsync/client';
import { explainCode, type Explanation } from './explain-error';

/** An error as it is shown. */
export interface Failure extends Explanation {
  readonly code?: string;
  readonly requestId?: string;
  /** The service's own words. */
  readonly message?: string;
  /** No answer came: the same again can succeed. */
  readonly isOfConnection?: boolean;
}

const UNREACHABLE: Explanation = {
  title: 'The service cannot be reached',
  hint: 'Check your connection and try again. What you have chosen is still here.',
};

/** A browser does not tell a lost connection from a store that takes nothing from this page (CORS). */
const UPLOAD_BROKE_OFF: Explanation = {
  title: 'The upload was cut off',
  hint: 'Check your connection and try again. If it happens every time, the store may not accept uploads from this page: tell your operator.',
};

/** @returns null if the user has ended it: then there is nothing to explain */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof DOMException && error.name === 'AbortError') return null;
  if (error instanceof ApiError)
    return {
      ...explainCode(error.code, error.message),
      code: error.code,
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    };
  if (error instanceof ConnectionError)
    return {
      ...(error.exchange === 'upload' ? UPLOAD_BROKE_OFF : UNREACHABLE),
      message: error.message,
      isOfConnection: true,
    };
  if (error instanceof TimeoutError)
    return {
      title: 'The service did not answer in time',
      hint: 'Try again.',
      message: error.message,
      isOfConnection: true,
    };
  return {
    title: 'Something went wrong in this page',
    hint: 'Reload it and try again.',
    message: error instanceof Error ? error.message : String(error),
  };
}
