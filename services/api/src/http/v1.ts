import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Operation, type OperationId, OPERATIONS } from '@lipsync/contract';
import { BODY_MAX_BYTES, ServiceError } from '@lipsync/domain';
import { type Span } from '@lipsync/telemetry';
import { type ApiDeps } from '../api-deps';
import { cancelRender } from '../operations/cancel-render';
import { completeUpload } from '../operations/complete-upload';
import { createAsset } from '../operations/create-asset';
import { createPreparation } from '../operations/create-preparation';
import { createRender } from '../operations/create-render';
import { createUpload } from '../operations/create-upload';
import { getAsset } from '../operations/get-asset';
import { getPreparation } from '../operations/get-preparation';
import { getRender } from '../operations/get-render';
import { getWebhook } from '../operations/get-webhook';
import { type Handler } from '../operations/operation';
import { answerError, sendJson } from './answer';
import { type Authenticate } from './authenticate';
import { parseJsonObject, readBody, requireJsonContentType } from './body';
import { limitRate } from './rate-limit';
import { beginRequest, type RequestContext, type RequestFields } from './request';

/**
 * Everything under /v1. The order of the checks is part of the interface: credential (401), rate (429), path and method
 * (404, 405), body (413, 400); the operation decides the rest. Never rejects.
 */
export function v1(
  deps: ApiDeps,
  authenticate: Authenticate,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const route = createRouteTable(OPERATIONS);
  const handlers = createHandlers(deps);

  async function answer(req: IncomingMessage, res: ServerResponse, context: RequestContext): Promise<void> {
    const { path, fields } = context;
    const method = req.method ?? '';
    const startSpan = (parent?: string): Span =>
      deps.telemetry.tracing.startSpan('http request', {
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

interface Route {
  operation: Operation;
  /** The path's `{id}`, decoded; empty when the template has none. */
  id: string;
}

interface Template {
  pattern: RegExp;
  operations: Map<string, Operation>;
}

/**
 * Finds the operation for a method and a path under /v1. Paths are case-sensitive, one trailing slash is ignored, and
 * HEAD is routed as GET.
 *
 * The returned function throws ServiceError not_found for an unknown path, and method_not_allowed (with Allow) for a
 * known path with another method.
 */
export function createRouteTable(operations: readonly Operation[]): (method: string, path: string) => Route {
  const templates = new Map<string, Template>();
  for (const operation of operations) {
    const template = templates.get(operation.path) ?? {
      pattern: toPattern(operation.path),
      operations: new Map(),
    };
    template.operations.set(operation.method.toUpperCase(), operation);
    templates.set(operation.path, template);
  }

  return (method, path) => {
    for (const template of templates.values()) {
      const match = template.pattern.exec(path);
      if (match === null) continue;
      const operation = template.operations.get(method === 'HEAD' ? 'GET' : method);
      if (operation === undefined) {
        throw new ServiceError('method_not_allowed', { headers: { Allow: allow(template) } });
      }
      return { operation, id: decode(match[1] ?? '') };
    }
    throw new ServiceError('not_found');
  };
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '([^/]+)')}/?$`);
}

function allow(template: Template): string {
  return [...template.operations.keys()]
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

/** An id that cannot be decoded is left as it is: being malformed, it matches no resource. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The handler of every operation of the contract; a missing one is a compile error. */
function createHandlers(deps: ApiDeps): Readonly<Record<OperationId, Handler>> {
  return {
    create_render: createRender(deps),
    get_render: getRender(deps),
    cancel_render: cancelRender(deps),
    create_preparation: createPreparation(deps),
    get_preparation: getPreparation(deps),
    create_upload: createUpload(deps),
    complete_upload: completeUpload(deps),
    create_asset: createAsset(deps),
    get_asset: getAsset(deps),
    get_webhook: getWebhook(deps),
  };
}
