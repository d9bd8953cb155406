import { newId } from '@lipsync/domain';
import { createScenario, type Scenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('get_preparation', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const get = (id: string) => api.operations.ok('get_preparation', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('get_preparation', { key: customer.key, id });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer();
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('200', () => {
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

  describe('404', () => {
    it("is the same for an unknown, a malformed, another customer's and another kind of id", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).preparation();
      const render = await scenario.render();
      for (const id of [newId('prp', 0, new Uint8Array(10)), 'prp', foreign, render]) {
        expect(await refuse(id)).toMatchObject({ status: 404, code: 'preparation_not_found' });
      }
    });
  });

  describe('410', () => {
    it('preparation_expired for an expired preparation', async () => {
      const id = await scenario.completedPreparation();
      await scenario.expire(id);
      expect(await refuse(id)).toMatchObject({ status: 410, code: 'preparation_expired' });
    });
  });
});
