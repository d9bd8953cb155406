import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type ErrorCode, type OperationId } from '@lipsync/contract';
import { NO_SPAN, type Span } from '@lipsync/telemetry';
import { type ApiDeps } from '../api-deps';

/** The caller chooses the path; it is truncated to keep log lines short. */
const PATH_MAX_CHARACTERS = 256;

/**
 * Runs before anything else. Names the request (X-Request-Id in and out); when the response is sent or the caller has
 * hung up, writes its one log line, counts it and ends its span.
 */
export function beginRequest(
  { logger, httpMetrics }: ApiDeps,
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
    httpMetrics.ended(fields, status, durationMs / 1000, span.traceId);
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

/** The fields that one request leaves in the log: flat, without bodies, keys, signed URLs or query strings. */
export interface RequestFields {
  operation_id?: OperationId;
  customer_id?: string;
  api_key_id?: string;
  resource_id?: string;
  error_code?: ErrorCode;
  idempotent_replayed?: boolean;
  request_bytes?: number;
  /** The unexpected error that was thrown, if any. The logger formats it. */
  error?: unknown;
}

/** Passed along with one request; the pages that Express routes find it in `res.locals`. */
export interface RequestContext {
  requestId: string;
  /** Path as sent, without the query. */
  path: string;
  /** The request's span. It ends with the response; work that the request starts continues its trace. */
  span: Span;
  fields: RequestFields;
}

declare global {
  // Express declares its extension points in this namespace.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    interface Locals {
      context: RequestContext;
    }
  }
}

/** What may be echoed into headers and logs: no spaces, no control characters, no way to forge a log field. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's X-Request-Id if it is acceptable, otherwise a new id. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}

/**
 * The path of a request target, without query, fragment and (in the absolute form that proxies use) origin. It is
 * neither decoded nor normalized, so routes match exactly what was sent.
 */
export function requestPath(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

/** On every response: it must not be framed, sniffed as another type, or leak a referrer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};
