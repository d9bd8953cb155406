import {
  type Delivery,
  type EngineResult,
  type RecordResource,
  WEBHOOK_RECORD_FIELD,
  type WebhookEvent,
  type WebhookEventType,
} from '@lipsync/contract';
import { type WebhookDeliveryRow, type WebhookEventRow } from './rows';
import { DELIVERY_STATES } from './states';

/** The delivery of an event as the contract shows it. */
export function deliveryResource(event: WebhookEventRow, delivery: WebhookDeliveryRow): Delivery {
  const status = DELIVERY_STATES.parse(delivery.status);
  const { lastHttpStatus, lastError } = delivery;
  // An attempt under way has its end in its lease: if its outcome is lost, the next one is due then.
  const nextAttemptAt = delivery.leaseUntil ?? delivery.nextAttemptAt;
  return {
    id: event.id,
    event_type: event.type,
    delivery_id: delivery.id,
    status,
    attempts: delivery.attempts,
    ...(lastHttpStatus === null ? {} : { last_http_status: lastHttpStatus }),
    ...(lastError === null ? {} : { last_error: lastError }),
    created_at: delivery.createdAt.toISOString(),
    updated_at: delivery.updatedAt.toISOString(),
    ...(status === 'pending' && nextAttemptAt ? { next_attempt_at: nextAttemptAt.toISOString() } : {}),
    expires_at: event.expiresAt.toISOString(),
  };
}

function withoutOutput(result: EngineResult): EngineResult {
  const rest = { ...result };
  delete rest.output;
  return rest;
}

/**
 * The exact text that every attempt signs and sends. Outputs are left out, because their signed URLs last 15 minutes
 * and retries go on for a day.
 */
export function webhookEventBody(
  event: { readonly id: string; readonly type: WebhookEventType; readonly createdAt: Date },
  record: RecordResource,
): string {
  const body: WebhookEvent = {
    id: event.id,
    type: event.type,
    created_at: event.createdAt.toISOString(),
    [WEBHOOK_RECORD_FIELD]: {
      ...record,
      ...(record.engines ? { engines: record.engines.map(withoutOutput) } : {}),
    },
  };
  return JSON.stringify(body);
}
