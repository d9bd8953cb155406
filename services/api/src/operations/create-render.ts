import { createRender as insertRender } from '@lipsync/db';
import { fingerprint } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { requireBody } from '../http/body';
import { viewRender } from './get-render';
import { type Handler, parsedInput, parsedWebhook, replayed, resolveIdempotencyKey } from './operation';

/** POST /v1/renders */
export function createRender(deps: ApiDeps): Handler {
  const { db, config, enqueuer } = deps;
  return async ({ customer, body, idempotencyHeaders, traceParent }) => {
    const request = requireBody('RenderRequest', body);
    const parsed = {
      ...request,
      video: parsedInput('video', request.video),
      audio: parsedInput('audio', request.audio),
      ...parsedWebhook(request),
    };
    const key = resolveIdempotencyKey(idempotencyHeaders, request.idempotency_key);
    const created = await insertRender(db, {
      customerId: customer.id,
      request: parsed,
      idempotency: key === null ? null : { key, fingerprint: fingerprint('create_render', request) },
      ttlSeconds: config.recordTtlSeconds,
      traceParent,
      enginesOnDemand: config.enginesOnDemand,
    });
    enqueuer.enqueueSoon(created.queues);
    const record = await viewRender(deps, created);
    return {
      body: record,
      headers: { Location: record.status_url, ...replayed(created.replayed) },
      resourceId: created.render.id,
    };
  };
}
