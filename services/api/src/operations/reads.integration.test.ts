import { claimDeliveries } from '@lipsync/db';
import { send } from '../../test/http-client';
import { createScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

let api: TestApi;
let customer: TestCustomer;
let scenario: Scenario;
beforeAll(async () => {
  api = await startApi();
  customer = await api.newCustomer({ postPerMinute: 1000, activeRecordsMax: 100 });
  scenario = createScenario(api, customer);
});
afterAll(() => api.close());

describe('get_render', () => {
  const get = (id: string) => api.operations.ok('get_render', { key: customer.key, id });

  it('says when to poll again while the render is unfinished, and not afterwards', async () => {
    const id = await scenario.render();
    expect((await get(id)).headers.get('retry-after')).toBe('2');
    await api.worker.begin({ renderId: id });
    const processing = await get(id);
    expect(processing.body).toMatchObject({ status: 'processing', engines: [{ stage: 'loading_model' }] });
    expect(processing.headers.get('retry-after')).toBe('2');

    const completed = await get(await scenario.completedRender());
    expect(completed.body).toMatchObject({ status: 'completed', stage: 'completed', progress_percent: 100 });
    expect(completed.headers.get('retry-after')).toBeNull();
  });

  it('signs a new download URL for 15 minutes, which serves the bytes as an attachment and is not logged', async () => {
    const id = await scenario.render();
    const key = await api.worker.render(id);
    await api.storage.put(key, Buffer.from('video bytes'), { contentType: 'video/mp4' });

    const output = (await get(id)).body.engines?.[0]?.output;
    const signed = new URL(output?.url ?? '').searchParams;
    expect(signed.get('X-Amz-Expires')).toBe('900');
    expect(Date.parse(output?.expires_at ?? '')).toBe(signingTime(signed.get('X-Amz-Date')) + 900_000);
    const download = await fetch(output?.url ?? '');
    expect(await download.text()).toBe('video bytes');
    expect(download.headers.get('content-disposition')).toBe(`attachment; filename="${id}-musetalk.mp4"`);
    expect(download.headers.get('content-type')).toBe('video/mp4');
    const signature = signed.get('X-Amz-Signature');
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(api.logLines())).not.toContain(signature);
  });

  it('shows the error of a failed render and of its engine', async () => {
    const id = await scenario.render();
    await api.worker.render(id, { failure: 'no_face_detected' });
    const { body } = await get(id);
    const error = { code: 'no_face_detected', retryable: false };
    expect(body).toMatchObject({ status: 'failed', error, engines: [{ status: 'failed', error }] });
  });

  it('answers HEAD with the same headers and no body', async () => {
    const id = await scenario.render();
    const head = await send(`${api.baseUrl}/v1/renders/${id}`, 'HEAD', { key: customer.key });
    const full = await send(`${api.baseUrl}/v1/renders/${id}`, 'GET', { key: customer.key });
    expect(head).toMatchObject({ status: 200, body: undefined });
    for (const name of ['content-type', 'content-length', 'cache-control', 'retry-after', 'ratelimit-limit'])
      expect(head.headers.get(name)).toBe(full.headers.get(name));
  });
});

describe('get_preparation', () => {
  const get = (id: string) => api.operations.ok('get_preparation', { key: customer.key, id });

  it('shows the measurements once completed, and the polling hint only before', async () => {
    const id = await scenario.preparation();
    const before = await get(id);
    expect(before.body.preparation).toBeUndefined();
    expect(before.headers.get('retry-after')).toBe('2');

    await api.worker.analyze(id);
    const after = await get(id);
    expect(after.body).toMatchObject({
      status: 'completed',
      progress_percent: 100,
      preparation: { version: '1', frames: 50, fps: 25, width: 640, height: 360, duration_seconds: 2 },
    });
    expect(after.headers.get('retry-after')).toBeNull();
  });

  it('shows the error of a failed preparation', async () => {
    const id = await scenario.preparation();
    await api.worker.analyze(id, { failure: 'no_face_detected' });
    expect((await get(id)).body).toMatchObject({ status: 'failed', error: { code: 'no_face_detected' } });
  });
});

describe('get_asset', () => {
  const get = (id: string) => api.operations.ok('get_asset', { key: customer.key, id });

  it('hints to poll only while the service is working on it', async () => {
    const awaiting = await get(await scenario.awaitingAsset());
    expect([awaiting.body.status, awaiting.headers.get('retry-after')]).toEqual(['awaiting_upload', null]);
    const pending = await get(await scenario.pendingAsset());
    expect([pending.body.status, pending.headers.get('retry-after')]).toEqual(['pending', '2']);
    const ready = await get(await scenario.readyAsset());
    expect([ready.body.status, ready.headers.get('retry-after')]).toEqual(['ready', null]);
  });

  it('shows the measurements of a ready asset and the error of a failed one', async () => {
    const measured = { size_bytes: 1000, duration_seconds: 2, codec: 'h264' };
    expect((await get(await scenario.readyAsset())).body.media).toEqual({
      ...measured,
      width: 640,
      height: 360,
      frames: 50,
      fps: 25,
    });
    expect((await get(await scenario.failedAsset())).body).toMatchObject({
      status: 'failed',
      stage: 'failed',
      error: { code: 'media_corrupt', retryable: false },
    });
  });
});

describe('get_webhook', () => {
  const get = (id: string) => api.operations.ok('get_webhook', { key: customer.key, id });

  it('shows a delivery that is due, by the event id', async () => {
    const eventId = await scenario.webhookEvent();
    const { body } = await get(eventId);
    const due = { id: eventId, event_type: 'render.cancelled', status: 'pending', attempts: 0 };
    expect(body).toMatchObject(due);
    expect(body.delivery_id).toMatch(/^dlv_/);
    expect(body.next_attempt_at).toBe(body.created_at);
    expect(JSON.stringify(body)).not.toContain(WEBHOOK_URL);
  });

  it('shows no next attempt in the past while an attempt is under way', async () => {
    const eventId = await scenario.webhookEvent();
    const caps = { perOrigin: 100, perCustomer: 100, delaysSeconds: [60] };
    await claimDeliveries(api.db, { limit: 100, leaseSeconds: 30, ...caps });
    const { body } = await get(eventId);
    expect(body).toMatchObject({ status: 'pending', attempts: 1 });
    expect(Date.parse(body.next_attempt_at ?? '')).toBeGreaterThan(Date.now());
  });

  it('shows how a delivery ended', async () => {
    const eventId = await scenario.webhookEvent();
    const ended = { status: 'failed', attempts: 11, lastHttpStatus: 500, lastError: 'http_error' };
    await api.db.prisma.webhookDelivery.updateMany({
      where: { eventId },
      data: { ...ended, nextAttemptAt: null },
    });
    const { body } = await get(eventId);
    const shown = { status: 'failed', attempts: 11, last_http_status: 500, last_error: 'http_error' };
    expect(body).toMatchObject(shown);
    expect(body.next_attempt_at).toBeUndefined();
  });
});

/** Converts a time like 20260101T000000Z to milliseconds since 1970. */
function signingTime(text: string | null): number {
  return Date.parse((text ?? '').replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));
}
