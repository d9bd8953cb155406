import { type ServerResponse } from 'node:http';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { errorResponse } from '@lipsync/domain';
import { ClientGone } from './client-gone';
import { type RequestFields } from './request-context';
import { sendJson } from './send-json';
import { toServiceError } from './to-service-error';

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
