import { type CreatedRender, createRenders, type NewRender } from '@lipsync/db';
import { fingerprint } from '@lipsync/domain';
import { batchCalls } from '@lipsync/runtime';
import { type ApiDeps } from '../api-deps';
import { DATABASE_WAIT } from '../database-wait';
import { resolveIdempotencyKey } from '../http/idempotency-key';
import { requireBody } from '../http/require-body';
import { type Handler } from './operation';
import { parsedInput, parsedWebhook } from './parsed-addresses';
import { replayed } from './replayed';
import { viewRender } from './view-render';

/**
 * Creates that arrive together share a transaction. Only one transaction runs at a time: two would mostly wait for each
 * other's locks, and the larger a batch is, the less each create in it costs.
 */
const BATCHES = { max: 16, inFlight: 1, limit: DATABASE_WAIT };

/** POST /v1/renders */
export function createRender(deps: ApiDeps): Handler {
  const { db, config, enqueuer } = deps;
  const insert = batchCalls<NewRender, CreatedRender>(BATCHES, (renders) => createRenders(db, renders));
  return async ({ customer, body, idempotencyHeaders, traceParent }) => {
    const request = requireBody('RenderRequest', body);
    const parsed = {
      ...request,
      ...{ video: parsedInput('video', request.video), audio: parsedInput('audio', request.audio) },
      ...parsedWebhook(request),
    };
    const key = resolveIdempotencyKey(idempotencyHeaders, request.idempotency_key);
    const created = await insert({
      customerId: customer.id,
      request: parsed,
      idempotency: key === null ? null : { key, fingerprint: fingerprint('create_render', request) },
      ttlSeconds: config.recordTtlSeconds,
      traceParent,
      enginesOnDemand: config.enginesOnDemand,
    });
    enqueuer.enqueueSoon(created.queues);
    return {
      body: await viewRender(deps, created),
      headers: replayed(created.replayed),
      resourceId: created.render.id,
    };
  };
}
