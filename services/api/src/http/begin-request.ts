import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Logger } from '@lipsync/runtime';
import { NO_SPAN } from '@lipsync/telemetry';
import { type HttpMetrics } from './http-metrics';
import { type RequestContext } from './request-context';
import { requestId } from './request-id';
import { requestPath } from './request-path';
import { SECURITY_HEADERS } from './security-headers';

/** The caller chooses the path; it is truncated to keep log lines short. */
const PATH_MAX_CHARACTERS = 256;

/**
 * Runs before anything else. Names the request (X-Request-Id in and out); when the response is sent or the caller has
 * hung up, writes its one log line, counts it and ends its span.
 */
export function beginRequest(
  { logger, httpMetrics }: { logger: Logger; httpMetrics: HttpMetrics },
  req: IncomingMessage,
  res: ServerResponse,
): RequestContext {
  const startedAt = performance.now();
  const context: RequestContext = {
    requestId: requestId(req.headers['x-request-id']),
    path: requestPath(req.url ?? ''),
    span: NO_SPAN,
    fields: {},
  };
  res.setHeader('X-Request-Id', context.requestId);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
  res.once('close', () => {
    const { fields, span } = context;
    const status = res.writableFinished ? res.statusCode : 499;
    const durationMs = performance.now() - startedAt;
    httpMetrics.ended(fields, status, durationMs / 1000);
    span.set({ 'http.response.status_code': status, 'lipsync.resource_id': fields.resource_id });
    span.end(status >= 500 ? (fields.error_code ?? String(status)) : undefined);
    const line = {
      request_id: context.requestId,
      method: req.method,
      path: context.path.slice(0, PATH_MAX_CHARACTERS),
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      trace_id: span.traceId,
      ...fields,
    };
    // The cause of a failure is recorded nowhere else.
    logger.wide('http_request', line, fields.error === undefined ? 'info' : 'error');
  });
  return context;
}
