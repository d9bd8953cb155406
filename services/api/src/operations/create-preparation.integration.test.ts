import { createScenario, preparationRequest, renderRequest, type Scenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('create_preparation', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const create = (json: object, headers: Record<string, string> = {}) =>
    api.operations.ok('create_preparation', { key: customer.key, json, headers });
  const refuse = (json: object, headers: Record<string, string> = {}) =>
    api.operations.refused('create_preparation', { key: customer.key, json, headers });

  beforeAll(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    customer = await api.newCustomer({ activeRecordsMax: 1000 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  it('returns an accepted record without engines and without audio', async () => {
    const { body } = await create(preparationRequest());
    expect(body).toMatchObject({ status: 'accepted', stage: 'queued', progress_percent: 0 });
    expect(body.id).toMatch(/^prp_/);
    expect(body.status_url).toBe(`https://api.example.com/v1/preparations/${body.id}`);
    for (const name of ['engines', 'audio_asset_id', 'sync_mode', 'preparation'])
      expect(body).not.toHaveProperty(name);
  });

  it('starts the analysis of a ready asset at once', async () => {
    const preparationId = await scenario.preparation();
    const claim = await api.worker.begin({ preparationId });
    expect(claim).toMatchObject({ kind: 'analyze', attempt: 1 });
  });

  it('stores URLs as vetted, but replays requests as written', async () => {
    const json = {
      video: { url: 'https://MEDIA.example.com./face.mp4' },
      webhook_url: 'https://hooks.example.com./lipsync',
    };
    const { body } = await create(json, { 'Idempotency-Key': 'k' });
    const video = await api.db.prisma.asset.findUniqueOrThrow({ where: { id: body.video_asset_id } });
    expect(video.sourceUrl).toBe('https://media.example.com/face.mp4');
    const { webhookUrl } = await api.db.prisma.preparation.findUniqueOrThrow({ where: { id: body.id } });
    expect(webhookUrl).toBe('https://hooks.example.com/lipsync');
    const again = await create(json, { 'Idempotency-Key': 'k' });
    expect(again.body.id).toBe(body.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const rewritten = { ...json, webhook_url: webhookUrl };
    expect((await refuse(rewritten, { 'Idempotency-Key': 'k' })).code).toBe('idempotency_key_reused');
  });

  it('is one for 20 identical simultaneous requests', async () => {
    const burst = Array.from({ length: 20 }, () => create(preparationRequest(), { 'Idempotency-Key': 'k' }));
    const answers = await Promise.all(burst);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await api.db.prisma.preparation.count({ where: { customerId: customer.id } })).toBe(1);
  });

  it.each([
    ['a property of renders', { ...preparationRequest(), sync_mode: 'loop' }, 'invalid_request'],
    ['a private address', { video: { url: 'https://10.0.0.1/a.mp4' } }, 'invalid_media_url'],
    ['a private webhook', preparationRequest({ webhook_url: 'https://127.0.0.1/' }), 'invalid_webhook_url'],
    [
      'a key of 129 characters',
      preparationRequest({ idempotency_key: 'k'.repeat(129) }),
      'invalid_idempotency_key',
    ],
  ])('is 400 for %s', async (_, json, code) => {
    expect(await refuse(json)).toMatchObject({ status: 400, code });
  });

  it.each<[number, string, (own: Scenario) => Promise<string>]>([
    [400, 'asset_type_mismatch', (own) => own.readyAsset('audio')],
    [404, 'asset_not_found', async () => createScenario(api, await api.newCustomer()).readyAsset()],
    [409, 'asset_not_ready', (own) => own.awaitingAsset()],
    [409, 'asset_failed', (own) => own.failedAsset()],
    [410, 'asset_expired', (own) => own.expiredAsset()],
  ])('is %i %s, by the state of the asset', async (status, code, make) => {
    expect(await refuse({ video: { asset_id: await make(scenario) } })).toMatchObject({ status, code });
  });

  it('is 409 idempotency_key_reused for a key that a render has used', async () => {
    const headers = { 'Idempotency-Key': 'k' };
    await api.operations.ok('create_render', { key: customer.key, json: renderRequest(), headers });
    const refused = await refuse(preparationRequest(), headers);
    expect(refused).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
  });

  it('is 429 concurrency_limit_exceeded at the limit, which it names', async () => {
    const limited = await api.newCustomer({ activeRecordsMax: 1 });
    const options = { key: limited.key, json: preparationRequest() };
    await api.operations.ok('create_preparation', options);
    const refused = await api.operations.refused('create_preparation', options);
    expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
    expect(refused.message).toContain('At most 1 renders and preparations');
  });
});
