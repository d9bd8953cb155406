import { type Logger } from '@lipsync/runtime';
import { type RequestHandler } from 'express';
import { requestId } from './request-id';
import { requestPath } from './request-path';
import { SECURITY_HEADERS } from './security-headers';

/** Paths are the caller's text: cut so that a log line stays a line. */
const PATH_MAX_CHARACTERS = 256;

/**
 * First in line: names the request (X-Request-Id in and out), and writes its one log line when the answer is out or
 * the caller is gone.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    const context = {
      requestId: requestId(req.headers['x-request-id']),
      path: requestPath(req.url),
      fields: {},
    };
    res.locals.context = context;
    res.setHeader('X-Request-Id', context.requestId);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
    res.once('close', () => {
      logger.wide('http_request', {
        request_id: context.requestId,
        method: req.method,
        path: context.path.slice(0, PATH_MAX_CHARACTERS),
        status: res.writableFinished ? res.statusCode : 499,
        duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
        ...context.fields,
      });
    });
    next();
  };
}
