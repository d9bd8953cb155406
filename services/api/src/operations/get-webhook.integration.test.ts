import { claimDeliveries } from '@lipsync/db';
import { newId } from '@lipsync/domain';
import { createScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('get_webhook', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const get = (id: string) => api.operations.ok('get_webhook', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('get_webhook', { key: customer.key, id });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer();
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('200', () => {
    it('shows a delivery that is due, by the event id', async () => {
      const eventId = await scenario.webhookEvent();
      const { body } = await get(eventId);
      expect(body).toMatchObject({
        id: eventId,
        event_type: 'render.cancelled',
        status: 'pending',
        attempts: 0,
      });
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
      await api.db.prisma.webhookDelivery.updateMany({
        where: { eventId },
        data: {
          status: 'failed',
          attempts: 11,
          nextAttemptAt: null,
          lastHttpStatus: 500,
          lastError: 'http_error',
        },
      });
      const { body } = await get(eventId);
      expect(body).toMatchObject({
        status: 'failed',
        attempts: 11,
        last_http_status: 500,
        last_error: 'http_error',
      });
      expect(body.next_attempt_at).toBeUndefined();
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's id, and for the id of the render", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).webhookEvent();
      const render = await scenario.render({ webhook_url: WEBHOOK_URL });
      for (const id of [newId('evt', 0, new Uint8Array(10)), 'evt_', foreign, render]) {
        expect(await refuse(id)).toMatchObject({ status: 404, code: 'webhook_event_not_found' });
      }
    });
  });

  describe('410', () => {
    it('webhook_event_expired for an expired event', async () => {
      const eventId = await scenario.webhookEvent();
      await scenario.expire(eventId);
      expect(await refuse(eventId)).toMatchObject({ status: 410, code: 'webhook_event_expired' });
    });
  });
});
