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

  beforeAll(async () => {
    api = await startApi({ engines: ['musetalk', 'highsync'] });
    customer = await api.newCustomer({ postPerMinute: 1000, activeRecordsMax: 100 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  it('cancels an accepted render with all its engines, without an error, and without an event if nobody asked for one', async () => {
    const { body } = await cancel(await scenario.render());
    const engines = [{ status: 'cancelled' }];
    expect(body).toMatchObject({ status: 'cancelled', stage: 'cancelled', engines });
    expect(body.completed_at).toBeDefined();
    expect([body.error, body.engines?.[0]?.error, body.webhook_event_id]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
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
    expect((await cancel(id)).body.status).toBe('cancelled');
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

  it('names its event, and changes nothing the second time', async () => {
    const id = await scenario.render({ webhook_url: WEBHOOK_URL });
    const first = await cancel(id);
    expect(first.body.webhook_event_id).toMatch(/^evt_/);
    expect((await cancel(id)).body).toEqual(first.body);
  });

  it.each([
    ['a JSON object', { json: { reason: 'changed my mind' } }],
    [
      'a form, as curl sends it',
      { raw: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    ],
  ])('accepts %s for a body, which it ignores', async (_, options) => {
    const id = await scenario.render();
    const { body } = await api.operations.ok('cancel_render', { key: customer.key, id, ...options });
    expect(body.status).toBe('cancelled');
  });

  it('refuses a body that is too large, although it would be ignored', async () => {
    const json = { padding: 'x'.repeat(70_000) };
    const { status } = await api.operations.refused('cancel_render', { key: customer.key, id: 'x', json });
    expect(status).toBe(413);
  });

  it("cancels nothing of another customer's", async () => {
    const owner = await api.newCustomer();
    const foreign = await createScenario(api, owner).render();
    expect((await refuse(foreign)).code).toBe('render_not_found');
    const { body } = await api.operations.ok('get_render', { key: owner.key, id: foreign });
    expect(body.status).toBe('accepted');
  });

  it('is 409 render_not_cancellable for a completed and for a failed render', async () => {
    const failed = await scenario.render();
    await api.worker.render(failed, { failure: 'engine_failed' });
    for (const id of [await scenario.completedRender(), failed])
      expect(await refuse(id)).toMatchObject({ status: 409, code: 'render_not_cancellable' });
  });
});
