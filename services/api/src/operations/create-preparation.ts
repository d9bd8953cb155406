import { createPreparation as insertPreparation } from '@lipsync/db';
import { fingerprint, preparationRecord } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { requireBody } from '../http/body';
import { type Handler, parsedInput, parsedWebhook, replayed, resolveIdempotencyKey } from './operation';

/** POST /v1/preparations */
export function createPreparation({ db, config, enqueuer }: ApiDeps): Handler {
  return async ({ customer, body, idempotencyHeaders, traceParent }) => {
    const request = requireBody('PreparationRequest', body);
    const parsed = { ...request, video: parsedInput('video', request.video), ...parsedWebhook(request) };
    const key = resolveIdempotencyKey(idempotencyHeaders, request.idempotency_key);
    const created = await insertPreparation(db, {
      customerId: customer.id,
      request: parsed,
      idempotency: key === null ? null : { key, fingerprint: fingerprint('create_preparation', request) },
      ttlSeconds: config.recordTtlSeconds,
      traceParent,
    });
    enqueuer.enqueueSoon(created.queues);
    const { preparation, webhookEventId } = created;
    const record = preparationRecord(preparation, { baseUrl: config.publicBaseUrl, webhookEventId });
    return {
      body: record,
      headers: { Location: record.status_url, ...replayed(created.replayed) },
      resourceId: preparation.id,
    };
  };
}
