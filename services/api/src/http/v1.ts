import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Operation, OPERATIONS } from '@lipsync/contract';
import { BODY_MAX_BYTES } from '@lipsync/domain';
import { type Span } from '@lipsync/telemetry';
import { type ApiDeps } from '../api-deps';
import { createHandlers } from '../operations/create-handlers';
import { answerError } from './answer-error';
import { createAuthenticator } from './authenticate';
import { beginRequest } from './begin-request';
import { parseJsonObject, requireJsonContentType } from './json-body';
import { limitRate } from './rate-limit';
import { readBody } from './read-body';
import { type RequestContext, type RequestFields } from './request-context';
import { createRouteTable } from './route-table';
import { sendJson } from './send-json';

/**
 * Everything under /v1. The order of the checks is part of the interface: credential (401), rate (429), path and method
 * (404, 405), body (413, 400); the operation decides the rest. Never rejects.
 */
export function v1(deps: ApiDeps): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const authenticate = createAuthenticator(deps);
  const route = createRouteTable(OPERATIONS);
  const handlers = createHandlers(deps);

  async function answer(req: IncomingMessage, res: ServerResponse, context: RequestContext): Promise<void> {
    const { path, fields } = context;
    const method = req.method ?? '';
    const startSpan = (parent?: string): Span =>
      deps.tracing.startSpan('http request', {
        kind: 'server',
        parent,
        attributes: { 'http.request.method': method, 'lipsync.request_id': context.requestId },
      });
    context.span = startSpan();
    const customer = await authenticate(req);
    // Only after authentication: continuing a caller's trace decides which spans are sent, and only a caller with a key
    // may decide that. The span started so far never ends, and so is never sent.
    const traceParent = req.headers['traceparent']?.toString();
    if (traceParent !== undefined) context.span = startSpan(traceParent);
    const { span } = context;
    fields.customer_id = customer.id;
    fields.api_key_id = customer.apiKeyId;
    const limits = await limitRate(deps, customer, method);
    for (const [name, value] of Object.entries(limits)) res.setHeader(name, value);
    const { operation, id } = route(method, path);
    fields.operation_id = operation.operationId;
    span.rename(operation.operationId);
    const reply = await handlers[operation.operationId]({
      customer,
      id,
      body: operation.method === 'post' ? await bodyOf(operation, req, res, fields) : undefined,
      idempotencyHeaders: req.headersDistinct['idempotency-key'] ?? [],
      traceParent: span.traceParent,
    });
    fields.resource_id = reply.resourceId;
    if (reply.headers?.['Idempotent-Replayed'] !== undefined) fields.idempotent_replayed = true;
    sendJson(res, operation.successStatus, reply.body, reply.headers);
  }

  return async (req, res) => {
    const context = beginRequest(deps, req, res);
    try {
      await answer(req, res, context);
    } catch (error) {
      answerError(res, context.fields, error);
    }
  };
}

async function bodyOf(
  operation: Operation,
  req: IncomingMessage,
  res: ServerResponse,
  fields: RequestFields,
): Promise<object | undefined> {
  const bytes = await readBody(req, res, BODY_MAX_BYTES);
  fields.request_bytes = bytes.length;
  // Cancel and complete take no body. One that is sent anyway is limited like any other, and ignored.
  if (operation.requestSchema === null) return undefined;
  requireJsonContentType(req.headers['content-type'], req.headers['content-encoding']);
  return parseJsonObject(bytes);
}
