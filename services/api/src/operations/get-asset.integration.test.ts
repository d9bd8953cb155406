import { newId } from '@lipsync/domain';
import { createScenario, type Scenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('get_asset', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const get = (id: string) => api.operations.ok('get_asset', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('get_asset', { key: customer.key, id });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer();
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('200', () => {
    it('hints to poll only while the service is working on it', async () => {
      const awaiting = await get(await scenario.awaitingAsset());
      expect([awaiting.body.status, awaiting.headers.get('retry-after')]).toEqual(['awaiting_upload', null]);
      const pending = await get(await scenario.pendingAsset());
      expect([pending.body.status, pending.headers.get('retry-after')]).toEqual(['pending', '2']);
      const ready = await get(await scenario.readyAsset());
      expect([ready.body.status, ready.headers.get('retry-after')]).toEqual(['ready', null]);
    });

    it('shows the measurements of a ready asset', async () => {
      const { body } = await get(await scenario.readyAsset());
      expect(body.media).toEqual({
        size_bytes: 1000,
        duration_seconds: 2,
        codec: 'h264',
        width: 640,
        height: 360,
        frames: 50,
        fps: 25,
      });
    });

    it('shows the error of a failed asset', async () => {
      const { body } = await get(await scenario.failedAsset());
      expect(body).toMatchObject({
        status: 'failed',
        stage: 'failed',
        error: { code: 'media_corrupt', retryable: false },
      });
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's id", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).pendingAsset();
      for (const id of [newId('ast', 0, new Uint8Array(10)), 'ast_?', foreign]) {
        expect(await refuse(id)).toMatchObject({ status: 404, code: 'asset_not_found' });
      }
    });
  });

  describe('410', () => {
    it('asset_expired for an expired asset', async () => {
      expect(await refuse(await scenario.expiredAsset())).toMatchObject({
        status: 410,
        code: 'asset_expired',
      });
    });
  });
});
