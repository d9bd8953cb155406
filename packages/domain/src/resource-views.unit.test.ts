import { type RecordResource, type SchemaName, validate, type WebhookEvent } from '@lipsync/contract';
import { errorBody } from './errors';
import { assetResource, deliveryResource, uploadResource, webhookEventBody } from './resource-views';
import { type AssetRow, type UploadRow, type WebhookDeliveryRow, type WebhookEventRow } from './rows';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');

const assetRow: AssetRow = {
  createdAt: at,
  updatedAt: at,
  expiresAt: later,
  purgedAt: null,
  id: 'ast_1',
  customerId: 'cus_1',
  mediaType: 'video',
  status: 'pending',
  stage: 'queued',
  sourceUrl: 'https://media.example.com/secret-token',
  contentType: null,
  objectKey: null,
  sha256: null,
  sizeBytes: 0,
  durationSeconds: 0,
  codec: 'unknown',
  width: null,
  height: null,
  frames: null,
  fps: null,
  stream: null,
  errorCode: null,
  errorDetail: null,
};

function expectValid(schema: SchemaName, value: unknown): void {
  expect(validate(schema, JSON.parse(JSON.stringify(value)))).toEqual({ ok: true });
}

describe('an asset', () => {
  it('has placeholders for its media until it is probed, and never shows where it came from', () => {
    const asset = assetResource(assetRow);
    expectValid('Asset', asset);
    expect(asset.media).toEqual({ size_bytes: 0, duration_seconds: 0, codec: 'unknown' });
    expect(JSON.stringify(asset)).not.toContain('secret-token');
  });

  it('shows its measures when ready and its error when failed', () => {
    const measures = {
      sizeBytes: 9,
      durationSeconds: 4,
      codec: 'h264',
      width: 640,
      height: 360,
      frames: 120,
      fps: 29.97,
    };
    const ready = assetResource({
      ...assetRow,
      ...measures,
      status: 'ready',
      stage: 'ready',
      contentType: 'video/mp4',
    });
    expectValid('Asset', ready);
    expect(ready.media).toEqual({
      size_bytes: 9,
      duration_seconds: 4,
      codec: 'h264',
      width: 640,
      height: 360,
      frames: 120,
      fps: 29.97,
    });
    const failed = assetResource({
      ...assetRow,
      status: 'failed',
      stage: 'failed',
      errorCode: 'media_too_long',
    });
    expectValid('Asset', failed);
    expect(failed.error?.code).toBe('media_too_long');
  });

  it('shows the detail that is stored with a code, and nothing of a code that this version does not know', () => {
    const errorDetail = 'The video lasts 301.0 seconds: too long.';
    const shown = (errorCode: string) =>
      assetResource({ ...assetRow, status: 'failed', errorCode, errorDetail }).error;
    expect(shown('media_too_long')).toEqual({
      code: 'media_too_long',
      message: errorDetail,
      retryable: false,
    });
    expect(shown('unheard_of')).toEqual(errorBody('internal_error'));
  });
});

const baseUrl = 'https://api.example.com';

describe('an upload', () => {
  const row: UploadRow = {
    createdAt: at,
    expiresAt: later,
    completedAt: null,
    purgedAt: null,
    id: 'upl_1',
    customerId: 'cus_1',
    assetId: 'ast_1',
    status: 'awaiting_upload',
    contentType: 'video/mp4',
    sizeBytes: 9,
    stagingKey: 'uploads/upl_1',
    etag: null,
  };
  const signed = {
    url: 'https://s3.example.com/x',
    headers: { 'Content-Type': 'video/mp4', 'Content-Length': '9' },
    expiresAt: later,
  };

  it('says where to PUT the bytes, with which headers, and where to complete it', () => {
    const upload = uploadResource(row, signed, { baseUrl });
    expect(validate('Upload', upload)).toEqual({ ok: true });
    expect(upload).toMatchObject({
      method: 'PUT',
      required_headers: signed.headers,
      complete_url: 'https://api.example.com/v1/uploads/upl_1/complete',
    });
    expect(JSON.stringify(upload)).not.toContain('stagingKey');
  });

  it.each([
    ['of the signature', { signedUntil: at, storedUntil: later }],
    ['of the record', { signedUntil: later, storedUntil: at }],
  ])('shows the expiry of %s if that comes first', (_, { signedUntil, storedUntil }) => {
    const upload = uploadResource(
      { ...row, expiresAt: storedUntil },
      { ...signed, expiresAt: signedUntil },
      { baseUrl },
    );
    expect(upload.expires_at).toBe(at.toISOString());
  });
});

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
