import { type SchemaName, validate, type WebhookEvent } from '@lipsync/contract';
import { assetResource } from './asset-view';
import { preparationRecord, renderRecord } from './record-view';
import {
  type AssetRow,
  type EngineRunRow,
  type PreparationRow,
  type RenderRow,
  type UploadRow,
  type WebhookDeliveryRow,
  type WebhookEventRow,
} from './rows';
import { uploadResource } from './upload-view';
import { deliveryResource, webhookEventBody, webhookEventType } from './webhook-view';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');
const iso = at.toISOString();
const baseUrl = 'https://api.example.com';

const times = { createdAt: at, updatedAt: at, expiresAt: later, completedAt: null, purgedAt: null };
const renderRow: RenderRow = {
  ...times,
  id: 'ren_1',
  customerId: 'cus_1',
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  videoAssetId: 'ast_v',
  audioAssetId: 'ast_a',
  syncMode: 'loop',
  preparationId: null,
  webhookUrl: null,
  errorCode: null,
};
const runRow: EngineRunRow = {
  id: 'run_1',
  renderId: 'ren_1',
  customerId: 'cus_1',
  engine: 'musetalk',
  position: 0,
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  outputKey: null,
  errorCode: null,
  usage: {},
  createdAt: at,
  updatedAt: at,
};
const preparationRow: PreparationRow = {
  ...times,
  id: 'prp_1',
  customerId: 'cus_1',
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  videoAssetId: 'ast_v',
  webhookUrl: null,
  errorCode: null,
  version: null,
  analyzerVersion: null,
  frames: null,
  fps: null,
  width: null,
  height: null,
  durationSeconds: null,
  videoSha256: null,
  trackKey: null,
};
const analysed: PreparationRow = {
  ...preparationRow,
  status: 'completed',
  stage: 'completed',
  progressPercent: 100,
  completedAt: at,
  version: '1',
  analyzerVersion: 'a',
  frames: 100,
  fps: 25,
  width: 640,
  height: 360,
  durationSeconds: 4,
};
const assetRow: AssetRow = {
  ...times,
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
  errorCode: null,
};
const outputs = new Map([['run_1', { url: 'https://s3.example.com/x?signature=1', expiresAt: at }]]);
const doneRun: EngineRunRow = {
  ...runRow,
  status: 'completed',
  stage: 'completed',
  progressPercent: 100,
  outputKey: 'outputs/run_1/1/video.mp4',
  usage: { output_seconds: 4, rendered_frames: 100, processing_ms: 900 },
};

function expectValid(schema: SchemaName, value: unknown): void {
  expect(validate(schema, JSON.parse(JSON.stringify(value)))).toEqual({ ok: true });
}

describe('a render', () => {
  it('has everything that is required from its acceptance on, with the four nulls of an unmeasured usage', () => {
    const record = renderRecord(renderRow, [runRow], null, { baseUrl });
    expectValid('Record', record);
    expect(record).toEqual({
      id: 'ren_1',
      status: 'accepted',
      stage: 'queued',
      progress_percent: 0,
      video_asset_id: 'ast_v',
      audio_asset_id: 'ast_a',
      sync_mode: 'loop',
      engines: [
        {
          engine: 'musetalk',
          status: 'accepted',
          stage: 'queued',
          progress_percent: 0,
          usage: {
            engine: 'musetalk',
            status: 'accepted',
            gpu_inference_seconds: null,
            billed_pod_seconds: null,
            observed_pod_seconds: null,
            estimated_compute_usd: null,
            gpu_models: [],
            estimate_coverage: 'unavailable',
          },
        },
      ],
      created_at: iso,
      updated_at: iso,
      expires_at: later.toISOString(),
      status_url: 'https://api.example.com/v1/renders/ren_1',
    });
  });

  it('shows its engines in the order of the request', () => {
    const runs = [
      { ...runRow, id: 'run_2', engine: 'highsync', position: 1 },
      { ...runRow, position: 0 },
    ];
    const { engines } = renderRecord(renderRow, runs, null, { baseUrl });
    expect(engines?.map(({ engine }) => engine)).toEqual(['musetalk', 'highsync']);
  });

  it('shows outputs, measures and its event once completed, although another engine failed', () => {
    const done = {
      ...renderRow,
      status: 'completed',
      stage: 'completed',
      progressPercent: 100,
      completedAt: at,
    };
    const failed = {
      ...runRow,
      id: 'run_2',
      engine: 'highsync',
      position: 1,
      status: 'failed',
      stage: 'failed',
      errorCode: 'engine_timeout',
    };
    const record = renderRecord(done, [doneRun, failed], null, { baseUrl, outputs, webhookEventId: 'evt_1' });
    expectValid('Record', record);
    expect(record).toMatchObject({ completed_at: iso, webhook_event_id: 'evt_1' });
    expect(record).not.toHaveProperty('error');
    expect(record.engines?.[0]).toMatchObject({
      output: { url: 'https://s3.example.com/x?signature=1', expires_at: iso },
      usage: { status: 'completed', rendered_frames: 100, gpu_inference_seconds: null },
    });
    expect(record.engines?.[1]?.error).toMatchObject({ code: 'engine_timeout', retryable: true });
    expect(record.engines?.[1]).not.toHaveProperty('output');
  });

  it('shows an error only when it failed, never when it was cancelled', () => {
    const failed = renderRecord(
      { ...renderRow, status: 'failed', stage: 'failed', errorCode: 'no_face_detected' },
      [],
      null,
      { baseUrl },
    );
    expect(failed.error?.code).toBe('no_face_detected');
    const cancelled = renderRecord(
      { ...renderRow, status: 'cancelled', errorCode: 'engine_failed' },
      [{ ...runRow, status: 'cancelled', errorCode: 'engine_failed' }],
      null,
      { baseUrl },
    );
    expect(cancelled).not.toHaveProperty('error');
    expect(cancelled.engines?.[0]).not.toHaveProperty('error');
  });

  it('is retryable when its engines failed differently and one of them is', () => {
    const runs = ['no_face_detected', 'worker_lost'].map((errorCode, position) => {
      return { ...runRow, id: `run_${position}`, position, status: 'failed', stage: 'failed', errorCode };
    });
    const row = { ...renderRow, status: 'failed', stage: 'failed', errorCode: 'all_engines_failed' };
    expect(renderRecord(row, runs, null, { baseUrl }).error).toMatchObject({
      code: 'all_engines_failed',
      retryable: true,
    });
  });

  it('shows the measures of the preparation that it names', () => {
    const record = renderRecord({ ...renderRow, preparationId: 'prp_1' }, [runRow], analysed, { baseUrl });
    expectValid('Record', record);
    expect(record).toMatchObject({ preparation_id: 'prp_1', preparation: { frames: 100, fps: 25 } });
  });

  it('survives a stored code and stored measures that this version does not know', () => {
    const row = { ...renderRow, status: 'failed', errorCode: 'code_of_the_future' };
    const record = renderRecord(row, [{ ...runRow, usage: { future: 1 } }], null, { baseUrl });
    expectValid('Record', record);
    expect(record.error?.code).toBe('internal_error');
  });
});

describe('a preparation', () => {
  it('is a record without engines and audio, whose measures come with its completion', () => {
    const accepted = preparationRecord(preparationRow, { baseUrl });
    expectValid('Record', accepted);
    for (const absent of ['engines', 'audio_asset_id', 'sync_mode', 'preparation', 'preparation_id']) {
      expect(accepted).not.toHaveProperty(absent);
    }
    expect(accepted.status_url).toBe('https://api.example.com/v1/preparations/prp_1');
    const completed = preparationRecord(analysed, { baseUrl });
    expectValid('Record', completed);
    expect(completed.preparation).toEqual({
      version: '1',
      analyzer_version: 'a',
      frames: 100,
      fps: 25,
      width: 640,
      height: 360,
      duration_seconds: 4,
    });
  });
});

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
});

describe('an upload', () => {
  it('says where to PUT the bytes, with which headers, and where to complete', () => {
    const row: UploadRow = {
      ...times,
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
    };
    const upload = uploadResource(row, signed, { baseUrl: `${baseUrl}/` });
    expectValid('Upload', upload);
    expect(upload).toMatchObject({
      method: 'PUT',
      required_headers: signed.headers,
      complete_url: 'https://api.example.com/v1/uploads/upl_1/complete',
    });
    expect(JSON.stringify(upload)).not.toContain('stagingKey');
  });
});

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

  it('event carries the record in data, without the signed addresses that would be dead at a retry', () => {
    const record = renderRecord(
      { ...renderRow, status: 'completed', stage: 'completed', completedAt: at },
      [doneRun],
      null,
      { baseUrl, outputs, webhookEventId: 'evt_1' },
    );
    const body = webhookEventBody({ id: 'evt_1', type: 'render.completed', createdAt: at }, record);
    const event = JSON.parse(body) as WebhookEvent;
    expectValid('WebhookEvent', event);
    expect(Object.keys(event)).toEqual(['id', 'type', 'created_at', 'data']);
    expect(event.data).toMatchObject({ id: 'ren_1', webhook_event_id: 'evt_1' });
    expect(body).not.toContain('signature=1');
    expect(record.engines?.[0]).toHaveProperty('output');
  });

  it('event follows the status of its record; a cancelled preparation has none', () => {
    expect(webhookEventType('render', 'completed')).toBe('render.completed');
    expect(webhookEventType('render', 'failed')).toBe('render.failed');
    expect(webhookEventType('render', 'cancelled')).toBe('render.cancelled');
    expect(webhookEventType('preparation', 'completed')).toBe('preparation.completed');
    expect(webhookEventType('preparation', 'failed')).toBe('preparation.failed');
    expect(webhookEventType('preparation', 'cancelled')).toBeNull();
    expect(webhookEventType('render', 'processing')).toBeNull();
  });
});
