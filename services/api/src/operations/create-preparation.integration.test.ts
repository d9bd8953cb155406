import { newId } from '@lipsync/domain';
import {
  createScenario,
  preparationRequest,
  renderRequest,
  type Scenario,
  VIDEO_URL,
} from '../../test/scenario';
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

  describe('202', () => {
    it('returns an accepted record without engines and without audio', async () => {
      const { body } = await create(preparationRequest());
      expect(body).toMatchObject({ status: 'accepted', stage: 'queued', progress_percent: 0 });
      expect(body.id).toMatch(/^prp_/);
      expect(body.status_url).toBe(`https://api.example.com/v1/preparations/${body.id}`);
      for (const name of ['engines', 'audio_asset_id', 'sync_mode', 'preparation'])
        expect(body).not.toHaveProperty(name);
    });

    it('starts the analysis of a ready asset at once', async () => {
      const id = await scenario.preparation();
      await expect(api.worker.begin({ preparationId: id })).resolves.toMatchObject({
        kind: 'analyze',
        attempt: 1,
      });
    });

    it('stores URLs as vetted, but compares idempotent requests as written', async () => {
      const json = {
        video: { url: 'https://MEDIA.example.com./face.mp4' },
        webhook_url: 'https://hooks.example.com./lipsync',
      };
      const { body } = await create(json, { 'Idempotency-Key': 'k' });
      const video = await api.db.prisma.asset.findUniqueOrThrow({ where: { id: body.video_asset_id } });
      expect(video.sourceUrl).toBe('https://media.example.com/face.mp4');
      const { webhookUrl } = await api.db.prisma.preparation.findUniqueOrThrow({ where: { id: body.id } });
      expect(webhookUrl).toBe('https://hooks.example.com/lipsync');
      expect((await create(json, { 'Idempotency-Key': 'k' })).body.id).toBe(body.id);
      const rewritten = { ...json, webhook_url: webhookUrl };
      expect((await refuse(rewritten, { 'Idempotency-Key': 'k' })).code).toBe('idempotency_key_reused');
    });

    it('replays by idempotency key, and creates one preparation from 20 identical simultaneous requests', async () => {
      const burst = Array.from({ length: 20 }, () =>
        create(preparationRequest(), { 'Idempotency-Key': 'k' }),
      );
      const answers = await Promise.all(burst);
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19);
      expect(await api.db.prisma.preparation.count({ where: { customerId: customer.id } })).toBe(1);
    });
  });

  describe('400', () => {
    it.each([
      ['nothing', {}, 'invalid_request'],
      ['a property of renders', { ...preparationRequest(), sync_mode: 'loop' }, 'invalid_request'],
      ['both asset_id and url', { video: { asset_id: 'ast_1', url: VIDEO_URL } }, 'invalid_request'],
      ['http', { video: { url: 'http://media.example.com/a.mp4' } }, 'invalid_media_url'],
      ['a private address', { video: { url: 'https://10.0.0.1/a.mp4' } }, 'invalid_media_url'],
      ['a private webhook', preparationRequest({ webhook_url: 'https://127.0.0.1/' }), 'invalid_webhook_url'],
      [
        'an http webhook',
        preparationRequest({ webhook_url: 'http://hooks.example.com/' }),
        'invalid_webhook_url',
      ],
      [
        'a key of 129 characters',
        preparationRequest({ idempotency_key: 'k'.repeat(129) }),
        'invalid_idempotency_key',
      ],
    ])('for %s', async (_, json, expected) => {
      const { status, code } = await refuse(json);
      expect({ status, code }).toEqual({ status: 400, code: expected });
    });

    it('idempotency_key_mismatch when header and body differ', async () => {
      const { code } = await refuse(preparationRequest({ idempotency_key: 'a' }), { 'Idempotency-Key': 'b' });
      expect(code).toBe('idempotency_key_mismatch');
    });

    it('asset_type_mismatch for an audio asset', async () => {
      const { code } = await refuse({ video: { asset_id: await scenario.readyAsset('audio') } });
      expect(code).toBe('asset_type_mismatch');
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's asset", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).readyAsset();
      for (const id of [newId('ast', 0, new Uint8Array(10)), 'x', foreign]) {
        expect(await refuse({ video: { asset_id: id } })).toMatchObject({
          status: 404,
          code: 'asset_not_found',
        });
      }
    });
  });

  describe('409', () => {
    it('depends on the state of the asset', async () => {
      const awaiting = await refuse({ video: { asset_id: await scenario.awaitingAsset() } });
      expect(awaiting).toMatchObject({ status: 409, code: 'asset_not_ready' });
      const failed = await refuse({ video: { asset_id: await scenario.failedAsset() } });
      expect(failed).toMatchObject({ status: 409, code: 'asset_failed' });
    });

    it('idempotency_key_reused for a key that a render has used', async () => {
      const headers = { 'Idempotency-Key': 'k' };
      await api.operations.ok('create_render', { key: customer.key, json: renderRequest(), headers });
      expect(await refuse(preparationRequest(), headers)).toMatchObject({
        status: 409,
        code: 'idempotency_key_reused',
      });
    });
  });

  describe('410', () => {
    it('asset_expired for an expired asset', async () => {
      const refused = await refuse({ video: { asset_id: await scenario.expiredAsset() } });
      expect(refused).toMatchObject({ status: 410, code: 'asset_expired' });
    });
  });

  describe('429', () => {
    it('concurrency_limit_exceeded at the limit, which it names', async () => {
      const limited = await api.newCustomer({ activeRecordsMax: 1 });
      const options = { key: limited.key, json: preparationRequest() };
      await api.operations.ok('create_preparation', options);
      const refused = await api.operations.refused('create_preparation', options);
      expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
      expect(refused.message).toContain('At most 1 renders and preparations');
    });
  });
});
