import { newId } from '@lipsync/domain';
import { send } from '../../test/http-client';
import { createScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('get_render', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const get = (id: string) => api.operations.ok('get_render', { key: customer.key, id });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer({ postPerMinute: 1000, activeRecordsMax: 100 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('200', () => {
    it('says when to poll again while the render is unfinished, and not afterwards', async () => {
      const id = await scenario.render();
      expect((await get(id)).headers.get('retry-after')).toBe('2');
      await api.worker.begin({ renderId: id });
      const processing = await get(id);
      expect(processing.body).toMatchObject({ status: 'processing', engines: [{ stage: 'loading_model' }] });
      expect(processing.headers.get('retry-after')).toBe('2');

      const completed = await get(await scenario.completedRender());
      expect(completed.body).toMatchObject({
        status: 'completed',
        stage: 'completed',
        progress_percent: 100,
      });
      expect(completed.headers.get('retry-after')).toBeNull();
    });

    it('signs a new download URL for 15 minutes, which serves the bytes as an attachment', async () => {
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
    });

    it('does not log the signed URL', async () => {
      const output = (await get(await scenario.completedRender())).body.engines?.[0]?.output;
      const signature = new URL(output?.url ?? '').searchParams.get('X-Amz-Signature');
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

    it('includes the webhook event id once there is one', async () => {
      const id = await scenario.render({ webhook_url: WEBHOOK_URL });
      expect((await get(id)).body.webhook_event_id).toBeUndefined();
      await api.worker.render(id);
      expect((await get(id)).body.webhook_event_id).toMatch(/^evt_/);
    });

    it('answers HEAD with the same headers and no body', async () => {
      const id = await scenario.render();
      const head = await send(`${api.baseUrl}/v1/renders/${id}`, 'HEAD', { key: customer.key });
      const full = await send(`${api.baseUrl}/v1/renders/${id}`, 'GET', { key: customer.key });
      expect(head).toMatchObject({ status: 200, body: undefined });
      for (const name of [
        'content-type',
        'content-length',
        'cache-control',
        'retry-after',
        'ratelimit-limit',
      ]) {
        expect(head.headers.get(name)).toBe(full.headers.get(name));
      }
    });

    it('ignores the query and one trailing slash', async () => {
      const id = await scenario.render();
      const { status } = await send(`${api.baseUrl}/v1/renders/${id}/?expand=all`, 'GET', {
        key: customer.key,
      });
      expect(status).toBe(200);
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's id", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).render();
      const ids = [
        newId('ren', 0, new Uint8Array(10)),
        'ren_1',
        'RENDER',
        `${foreign}'--`,
        '%00',
        '😀',
        foreign,
      ];
      for (const id of ids) {
        const refused = await api.operations.refused('get_render', { key: customer.key, id });
        expect(refused).toMatchObject({ status: 404, code: 'render_not_found' });
      }
    });

    it("stays 404 for another customer's render that has expired", async () => {
      const other = createScenario(api, await api.newCustomer());
      const foreign = await other.render();
      await other.expire(foreign);
      const { code } = await api.operations.refused('get_render', { key: customer.key, id: foreign });
      expect(code).toBe('render_not_found');
    });
  });

  describe('410', () => {
    it('render_expired for an expired render', async () => {
      const id = await scenario.completedRender();
      await scenario.expire(id);
      const refused = await api.operations.refused('get_render', { key: customer.key, id });
      expect(refused).toMatchObject({ status: 410, code: 'render_expired' });
    });
  });
});

/** Converts a time like 20260101T000000Z to milliseconds since 1970. */
function signingTime(text: string | null): number {
  return Date.parse((text ?? '').replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));
}
