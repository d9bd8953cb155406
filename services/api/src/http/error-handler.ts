import { ERROR_CATALOGUE } from '@lipsync/contract';
import { errorResponse } from '@lipsync/domain';
import { type ErrorRequestHandler } from 'express';
import { ClientGone } from './client-gone';
import { sendJson } from './send-json';
import { toServiceError } from './to-service-error';

/** Last in line: turns whatever was thrown into the contract's error answer, and tells the caller nothing else. */
// Express tells an error handler by its four parameters.
// eslint-disable-next-line @typescript-eslint/no-unused-vars
export const errorHandler: ErrorRequestHandler = (thrown: unknown, _req, res, _next) => {
  const { fields } = res.locals.context;
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
  // A code without a status belongs into records; thrown here it is a mistake of ours.
  sendJson(res, httpStatus ?? 503, errorResponse(error), { ...retryAfter, ...error.headers });
};
