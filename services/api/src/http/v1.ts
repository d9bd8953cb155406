import { OPERATIONS, type Operation } from '@lipsync/contract';
import { BODY_MAX_BYTES } from '@lipsync/domain';
import { type Request, type RequestHandler, type Response } from 'express';
import { type ApiDeps } from '../api-deps';
import { createHandlers } from '../operations/create-handlers';
import { createAuthenticator } from './authenticate';
import { parseJsonObject, requireJsonContentType } from './json-body';
import { limitRate } from './rate-limit';
import { readBody } from './read-body';
import { createRouteTable } from './route-table';
import { sendJson } from './send-json';

/**
 * Everything under /v1. The order of the steps is part of the interface: who asks (401), how often (429), what for
 * (404, 405), with which body (413, 400); the operation decides the rest.
 */
export function v1(deps: ApiDeps): RequestHandler {
  const authenticate = createAuthenticator(deps);
  const route = createRouteTable(OPERATIONS);
  const handlers = createHandlers(deps);

  return async (req, res) => {
    const { context } = res.locals;
    const { path, fields } = context;
    const span = deps.tracing.startSpan('http request', {
      kind: 'server',
      parent: req.get('traceparent'),
      attributes: { 'http.request.method': req.method, 'lipsync.request_id': context.requestId },
    });
    context.span = span;
    const customer = await authenticate(req);
    fields.customer_id = customer.id;
    fields.api_key_id = customer.apiKeyId;
    res.set(await limitRate(deps, customer, req.method));
    const { operation, id } = route(req.method, path);
    fields.operation_id = operation.operationId;
    span.rename(operation.operationId);
    const reply = await handlers[operation.operationId]({
      customer,
      id,
      body: operation.method === 'post' ? await bodyOf(operation, req, res) : undefined,
      idempotencyHeaders: req.headersDistinct['idempotency-key'] ?? [],
      traceParent: span.traceParent,
    });
    fields.resource_id = reply.resourceId;
    if (reply.headers?.['Idempotent-Replayed'] !== undefined) fields.idempotent_replayed = true;
    sendJson(res, operation.successStatus, reply.body, reply.headers);
  };
}

async function bodyOf(operation: Operation, req: Request, res: Response): Promise<object | undefined> {
  const bytes = await readBody(req, res, BODY_MAX_BYTES);
  res.locals.context.fields.request_bytes = bytes.length;
  // Cancel and complete take no body: what comes anyway is bounded like any body, and ignored.
  if (operation.requestSchema === null) return undefined;
  requireJsonContentType(req.headers['content-type'], req.headers['content-encoding']);
  return parseJsonObject(bytes);
}
