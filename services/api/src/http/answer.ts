import { type ServerResponse } from 'node:http';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { isDatabaseUnavailable } from '@lipsync/db';
import { errorResponse, isServiceError, ServiceError } from '@lipsync/domain';
import { ClientGone } from './body';
import { type RequestFields } from './request';

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

/** Writes a complete JSON response. No response may be cached: records change and output URLs expire. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', bytes.length);
  res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.end(bytes);
}
