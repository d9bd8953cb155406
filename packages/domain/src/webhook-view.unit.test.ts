import { type RecordResource, type SchemaName, validate, type WebhookEvent } from '@lipsync/contract';
import { type WebhookDeliveryRow, type WebhookEventRow } from './rows';
import { deliveryResource, webhookEventBody } from './webhook-view';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');
const iso = at.toISOString();
const record: RecordResource = {
  id: 'ren_1',
  status: 'completed',
  stage: 'completed',
  progress_percent: 100,
  video_asset_id: 'ast_v',
  engines: [
    {
      engine: 'musetalk',
      status: 'completed',
      stage: 'completed',
      progress_percent: 100,
      usage: {},
      output: { url: 'https://s3.example.com/x?signature=1', expires_at: iso },
    },
  ],
  webhook_event_id: 'evt_1',
  created_at: iso,
  updated_at: iso,
  completed_at: iso,
  expires_at: iso,
  status_url: 'https://api.example.com/v1/renders/ren_1',
};

function expectValid(schema: SchemaName, value: unknown): void {
  expect(validate(schema, JSON.parse(JSON.stringify(value)))).toEqual({ ok: true });
}

describe('a webhook', () => {
  const eventRow: WebhookEventRow = {
    id: 'evt_1',
    customerId: 'cus_1',
    renderId: 'ren_1',
    preparationId: null,
    type: 'render.completed',
    body: '{}',
    createdAt: at,
    expiresAt: later,
  };
  const deliveryRow: WebhookDeliveryRow = {
    id: 'dlv_1',
    eventId: 'evt_1',
    customerId: 'cus_1',
    url: 'https://hooks.example.com/?token=1',
    origin: 'https://hooks.example.com',
    status: 'pending',
    attempts: 1,
    nextAttemptAt: later,
    leaseUntil: null,
    claimToken: 'c',
    lastHttpStatus: 500,
    lastError: 'http_error',
    createdAt: at,
    updatedAt: at,
  };

  it('delivery shows its next attempt only while it is pending', () => {
    const pending = deliveryResource(eventRow, deliveryRow);
    expectValid('Delivery', pending);
    expect(pending).toEqual({
      id: 'evt_1',
      event_type: 'render.completed',
      delivery_id: 'dlv_1',
      status: 'pending',
      attempts: 1,
      last_http_status: 500,
      last_error: 'http_error',
      created_at: iso,
      updated_at: iso,
      next_attempt_at: later.toISOString(),
      expires_at: later.toISOString(),
    });
    expect(deliveryResource(eventRow, { ...deliveryRow, status: 'failed' })).not.toHaveProperty(
      'next_attempt_at',
    );
    expect(
      deliveryResource(eventRow, { ...deliveryRow, lastHttpStatus: null, lastError: null }),
    ).not.toHaveProperty('last_error');
  });

  it('delivery shows the end of the attempt under way as the time of the next one', () => {
    const leased = { ...deliveryRow, nextAttemptAt: at, leaseUntil: later };
    expect(deliveryResource(eventRow, leased).next_attempt_at).toBe(later.toISOString());
  });

  it('event carries the record in data, without the signed URLs, which would have expired by a retry', () => {
    const body = webhookEventBody({ id: 'evt_1', type: 'render.completed', createdAt: at }, record);
    const event = JSON.parse(body) as WebhookEvent;
    expectValid('WebhookEvent', event);
    expect(Object.keys(event)).toEqual(['id', 'type', 'created_at', 'data']);
    expect(event.data).toMatchObject({ id: 'ren_1', webhook_event_id: 'evt_1' });
    expect(body).not.toContain('signature=1');
    expect(record.engines?.[0]).toHaveProperty('output');
  });
});
