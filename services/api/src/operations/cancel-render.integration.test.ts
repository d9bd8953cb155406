import { newId } from '@lipsync/domain';
import { listen } from '@lipsync/queue';
import { createLogger } from '@lipsync/runtime';
import { eventually, testRedisUrl } from '@lipsync/testkit';
import { createScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('cancel_render', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const cancel = (id: string) => api.operations.ok('cancel_render', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('cancel_render', { key: customer.key, id });
  const countEvents = (renderId: string) => api.db.prisma.webhookEvent.count({ where: { renderId } });

  beforeAll(async () => {
    api = await startApi({ engines: ['musetalk', 'highsync'] });
    customer = await api.newCustomer({ postPerMinute: 1000, activeRecordsMax: 100 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('202', () => {
    it('cancels an accepted render with all its engines, without an error', async () => {
      const { body } = await cancel(await scenario.render());
      expect(body).toMatchObject({
        status: 'cancelled',
        stage: 'cancelled',
        engines: [{ status: 'cancelled' }],
      });
      expect(body.completed_at).toBeDefined();
      expect(body.error).toBeUndefined();
      expect(body.engines?.[0]?.error).toBeUndefined();
    });

    it('cancels a processing render at once: later writes by its worker change nothing', async () => {
      const id = await scenario.render();
      await api.worker.begin({ renderId: id });
      expect((await cancel(id)).body.status).toBe('cancelled');
      await expect(api.worker.render(id)).rejects.toThrow();
      expect((await api.operations.ok('get_render', { key: customer.key, id })).body.status).toBe(
        'cancelled',
      );
    });

    it('signals the worker of a running job at once', async () => {
      const id = await scenario.render();
      const { jobId } = await api.worker.begin({ renderId: id });
      const heard: string[] = [];
      const logger = createLogger({ service: 'test', level: 'silent' });
      const options = { redisUrl: testRedisUrl(), prefix: api.redisPrefix, logger };
      const listener = listen(options, { onCancelled: (cancelled) => heard.push(cancelled) });
      await eventually(async () => {
        await api.queues.signalCancel(['are you there']);
        expect(heard).toContain('are you there');
      });
      await cancel(id);
      await eventually(() => expect(heard).toContain(jobId));
      listener.close();
    });

    it('keeps the output of an engine that had completed', async () => {
      const id = await scenario.render({ engines: ['musetalk', 'highsync'] });
      await api.worker.render(id);
      const { body } = await cancel(id);
      expect(body.status).toBe('cancelled');
      const statuses = body.engines?.map(({ status, output }) => [status, output !== undefined]);
      expect(statuses).toContainEqual(['completed', true]);
      expect(statuses).toContainEqual(['cancelled', false]);
    });

    it('emits one event however often it is called, and changes nothing the second time', async () => {
      const id = await scenario.render({ webhook_url: WEBHOOK_URL });
      const first = await cancel(id);
      const again = await cancel(id);
      expect(again.body).toEqual(first.body);
      expect(first.body.webhook_event_id).toMatch(/^evt_/);
      expect(await countEvents(id)).toBe(1);
    });

    it('settles a race between cancellations and a completion in favour of exactly one', async () => {
      const id = await scenario.render({ webhook_url: WEBHOOK_URL });
      await Promise.allSettled([
        api.worker.render(id),
        ...[1, 2, 3].map(() => api.operations.attempt('cancel_render', { key: customer.key, id })),
      ]);
      const { body } = await api.operations.ok('get_render', { key: customer.key, id });
      expect(['completed', 'cancelled']).toContain(body.status);
      expect(await countEvents(id)).toBe(1);
    });

    it.each([
      ['no body', {}],
      ['a JSON object', { json: { reason: 'changed my mind' } }],
      [
        'a form, as curl sends it',
        { raw: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      ],
    ])('accepts %s', async (_, options) => {
      const id = await scenario.render();
      const { body } = await api.operations.ok('cancel_render', { key: customer.key, id, ...options });
      expect(body.status).toBe('cancelled');
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's id, and cancels nothing", async () => {
      const owner = await api.newCustomer();
      const foreign = await createScenario(api, owner).render();
      for (const id of [newId('ren', 0, new Uint8Array(10)), 'ren_x', foreign]) {
        expect(await refuse(id)).toMatchObject({ status: 404, code: 'render_not_found' });
      }
      const { body } = await api.operations.ok('get_render', { key: owner.key, id: foreign });
      expect(body.status).toBe('accepted');
    });
  });

  describe('409', () => {
    it('render_not_cancellable for a completed and for a failed render', async () => {
      const failed = await scenario.render();
      await api.worker.render(failed, { failure: 'engine_failed' });
      for (const id of [await scenario.completedRender(), failed]) {
        expect(await refuse(id)).toMatchObject({ status: 409, code: 'render_not_cancellable' });
      }
    });
  });

  describe('410', () => {
    it('render_expired for an expired render, whatever its state', async () => {
      for (const id of [await scenario.render(), await scenario.completedRender()]) {
        await scenario.expire(id);
        expect(await refuse(id)).toMatchObject({ status: 410, code: 'render_expired' });
      }
    });
  });

  describe('413', () => {
    it('body_too_large although the body would be ignored', async () => {
      const id = await scenario.render();
      const { status } = await api.operations.refused('cancel_render', {
        key: customer.key,
        id,
        json: { padding: 'x'.repeat(70_000) },
      });
      expect(status).toBe(413);
    });
  });
});
