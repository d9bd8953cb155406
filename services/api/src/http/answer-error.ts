import { type ServerResponse } from 'node:http';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { isDatabaseUnavailable } from '@lipsync/db';
import { errorResponse, isServiceError, ServiceError } from '@lipsync/domain';
import { ClientGone } from './read-body';
import { type RequestFields } from './request-context';
import { sendJson } from './send-json';

/** Turns whatever was thrown into the contract's error response, and tells the caller nothing else. */
export function answerError(res: ServerResponse, fields: RequestFields, thrown: unknown): void {
  if (thrown instanceof ClientGone) {
    res.destroy();
    return;
  }
  const error = toServiceError(thrown);
  fields.error_code = error.code;
  if (error.cause !== undefined) fields.error = error.cause;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { httpStatus, retryAfterSeconds } = ERROR_CATALOGUE[error.code];
  const retryAfter = retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) };
  // A code without a status belongs in records; throwing one here is a bug in this service.
  sendJson(res, httpStatus ?? 503, errorResponse(error), { ...retryAfter, ...error.headers });
}

/** Maps anything that was thrown to the error that the caller sees. The cause goes to the log only. */
function toServiceError(thrown: unknown): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const code = isDatabaseUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new ServiceError(code, { cause: thrown });
}
