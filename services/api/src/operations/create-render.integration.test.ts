import { type RenderRequest, SYNC_MODES } from '@lipsync/contract';
import { newId } from '@lipsync/domain';
import { createScenario, renderRequest, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

const unknownId = (prefix: 'ast' | 'prp'): string => newId(prefix, 0, new Uint8Array(10));

describe('create_render', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const create = (json: object, headers: Record<string, string> = {}) =>
    api.operations.ok('create_render', { key: customer.key, json, headers });
  const refuse = (json: object, headers: Record<string, string> = {}) =>
    api.operations.refused('create_render', { key: customer.key, json, headers });
  const countRenders = () => api.db.prisma.render.count({ where: { customerId: customer.id } });

  beforeAll(async () => {
    api = await startApi({ engines: ['musetalk', 'highsync'] });
  });
  beforeEach(async () => {
    customer = await api.newCustomer({ activeRecordsMax: 1000, postPerMinute: 10_000 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('202', () => {
    it('returns an accepted record with one result per engine, in the order of the request', async () => {
      const { body } = await create(renderRequest({ engines: ['highsync', 'musetalk'] }));
      expect(body).toMatchObject({ status: 'accepted', stage: 'queued', progress_percent: 0 });
      expect(body.engines?.map(({ engine, status, stage }) => [engine, status, stage])).toEqual([
        ['highsync', 'accepted', 'queued'],
        ['musetalk', 'accepted', 'queued'],
      ]);
      expect(body.status_url).toBe(`https://api.example.com/v1/renders/${body.id}`);
      expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(7 * 86_400_000);
    });

    it('accepts ready and pending assets, and starts a render of ready ones at once', async () => {
      const video = await scenario.readyAsset('video');
      const audio = await scenario.pendingAsset('audio');
      const { body } = await create(
        renderRequest({ video: { asset_id: video }, audio: { asset_id: audio } }),
      );
      expect(body).toMatchObject({ video_asset_id: video, audio_asset_id: audio });

      const ready = await scenario.render();
      await expect(api.worker.begin({ renderId: ready })).resolves.toMatchObject({
        attempt: 1,
        kind: 'render',
      });
      await expect(api.worker.begin({ renderId: body.id })).rejects.toThrow('blocked');
    });

    it.each(SYNC_MODES)('accepts sync_mode %s', async (syncMode) => {
      expect((await create(renderRequest({ sync_mode: syncMode }))).body.sync_mode).toBe(syncMode);
    });

    it('accepts a preparation of the same video, also of another asset with the same bytes, and shows it', async () => {
      const readyVideo = () => scenario.readyAsset('video', 'cd'.repeat(32));
      const [one, other] = [await readyVideo(), await readyVideo()];
      const preparation = await scenario.completedPreparation(one);
      for (const id of [one, other]) {
        const { body } = await create(
          renderRequest({ video: { asset_id: id }, preparation_id: preparation }),
        );
        expect(body).toMatchObject({ preparation_id: preparation, preparation: { frames: 50, fps: 25 } });
      }
    });
  });

  /** The response to a create is composed, not read back from the database: both must agree. */
  describe('202 as stored', () => {
    async function expectSame(json: RenderRequest): Promise<void> {
      const { body } = await create(json);
      expect((await api.operations.ok('get_render', { key: customer.key, id: body.id })).body).toEqual(body);
    }

    it('matches what get_render returns, when created from URLs', async () => {
      await expectSame(renderRequest({ engines: ['highsync', 'musetalk'], webhook_url: WEBHOOK_URL }));
      await expectSame(renderRequest());
    });

    it('matches what get_render returns, when created from assets and a preparation', async () => {
      const video = await scenario.readyAsset('video');
      const audio = { asset_id: await scenario.pendingAsset('audio') };
      const preparation = await scenario.completedPreparation(video);
      await expectSame(renderRequest({ video: { asset_id: video }, audio, preparation_id: preparation }));
    });

    it('has the URLs as vetted, while its request is remembered as written', async () => {
      const json = {
        ...renderRequest({ webhook_url: 'https://hooks.example.com./lipsync' }),
        video: { url: 'https://MEDIA.example.com./a.mp4' },
        audio: { url: 'https://media.example.com./a.wav' },
        idempotency_key: 'written',
      };
      const { body } = await create(json);
      const sources = await api.db.prisma.asset.findMany({
        where: { id: { in: [body.video_asset_id, body.audio_asset_id ?? ''] } },
      });
      expect(sources.map(({ sourceUrl }) => sourceUrl).sort()).toEqual([
        'https://media.example.com/a.mp4',
        'https://media.example.com/a.wav',
      ]);
      const { webhookUrl } = await api.db.prisma.render.findUniqueOrThrow({ where: { id: body.id } });
      expect(webhookUrl).toBe('https://hooks.example.com/lipsync');
      expect((await create(json)).body.id).toBe(body.id);
      expect((await refuse({ ...json, webhook_url: webhookUrl })).code).toBe('idempotency_key_reused');
    });
  });

  describe('202 with an idempotency key', () => {
    it('replays the same render in its current state, with the key in header or body', async () => {
      const json = renderRequest();
      const first = await create(json, { 'Idempotency-Key': 'order-1' });
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      await api.operations.ok('cancel_render', { key: customer.key, id: first.body.id });

      const byHeader = await create(json, { 'Idempotency-Key': 'order-1' });
      const byBody = await create({ ...json, idempotency_key: 'order-1' });
      for (const { body, headers } of [byHeader, byBody]) {
        expect(body).toMatchObject({ id: first.body.id, status: 'cancelled' });
        expect(headers.get('idempotent-replayed')).toBe('true');
      }
      expect(await countRenders()).toBe(1);
    });

    it('replays even when the asset has expired and the customer is at its limit', async () => {
      const limited = await api.newCustomer({ activeRecordsMax: 1 });
      const own = createScenario(api, limited);
      const video = await own.readyAsset('video');
      const json = renderRequest({ video: { asset_id: video } });
      const options = { key: limited.key, json, headers: { 'Idempotency-Key': 'k' } };
      const first = await api.operations.ok('create_render', options);
      await own.expire(video);
      expect((await api.operations.ok('create_render', options)).body.id).toBe(first.body.id);
    });

    it.each(['a\0b', '\ud800', 'quote"\\'])(
      'accepts the key %j, like any other within the length',
      async (key) => {
        const json = { ...renderRequest(), idempotency_key: key };
        const { body } = await create(json);
        expect((await create(json)).body.id).toBe(body.id);
      },
    );

    it('forgets a key when its render has expired', async () => {
      const first = await create(renderRequest(), { 'Idempotency-Key': 'old' });
      await api.db.prisma.idempotencyKey.updateMany({
        where: { customerId: customer.id, key: 'old' },
        data: { expiresAt: new Date(0) },
      });
      expect((await create(renderRequest(), { 'Idempotency-Key': 'old' })).body.id).not.toBe(first.body.id);
    });
  });

  describe('a refusal of its body', () => {
    const asset = { asset_id: 'ast_00000000000000000000000000' };
    const url = { url: 'https://media.example.com/x.mp4' };
    const withProto = JSON.parse('{"__proto__": {"engines": []}}') as object;

    it.each<[string, object, string]>([
      ['an unknown property', { ...renderRequest(), color: 'red' }, '/color'],
      ['a property named __proto__', { ...renderRequest(), ...withProto }, '/__proto__'],
      ['both asset_id and url', { ...renderRequest(), video: { ...asset, ...url } }, '/video'],
    ])('is 400 invalid_request for %s, naming the place', async (_, json, place) => {
      const refused = await refuse(json);
      expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(refused.message).toContain(place);
    });

    it.each(['http://media.example.com/a.mp4', 'https://169.254.169.254/latest/meta-data'])(
      'is 400 invalid_media_url for %s, as video and as audio, saying which',
      async (address) => {
        for (const input of ['video', 'audio']) {
          const refused = await refuse({ ...renderRequest(), [input]: { url: address } });
          expect(refused).toMatchObject({ status: 400, code: 'invalid_media_url' });
          expect(refused.message).toContain(`/${input}/url `);
        }
      },
    );

    it.each(['http://hooks.example.com/x', 'https://192.168.0.1/x'])(
      'is 400 invalid_webhook_url for %s',
      async (address) => {
        const refused = await refuse(renderRequest({ webhook_url: address }));
        expect(refused).toMatchObject({ status: 400, code: 'invalid_webhook_url' });
      },
    );

    it('is 400 idempotency_key_mismatch when header and body differ', async () => {
      const refused = await refuse({ ...renderRequest(), idempotency_key: 'a' }, { 'Idempotency-Key': 'b' });
      expect(refused).toMatchObject({ status: 400, code: 'idempotency_key_mismatch' });
    });

    it('is 409 idempotency_key_reused for another payload, and for another operation', async () => {
      const headers = { 'Idempotency-Key': 'k' };
      await create(renderRequest(), headers);
      const changed = await refuse(renderRequest({ sync_mode: 'loop' }), headers);
      expect(changed).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
      const options = { key: customer.key, json: { video: renderRequest().video }, headers };
      const other = await api.operations.refused('create_preparation', options);
      expect(other).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
    });
  });

  describe('a refusal of what it refers to', () => {
    type Reference = (own: Scenario) => Promise<Partial<RenderRequest>>;

    it.each<[number, string, Reference]>([
      [400, 'asset_type_mismatch', async (own) => ({ video: { asset_id: await own.readyAsset('audio') } })],
      [400, 'asset_type_mismatch', async (own) => ({ audio: { asset_id: await own.readyAsset('video') } })],
      [
        400,
        'preparation_mismatch',
        async (own) => ({
          video: { asset_id: await own.readyAsset('video', 'bb'.repeat(32)) },
          preparation_id: await own.completedPreparation(await own.readyAsset('video', 'aa'.repeat(32))),
        }),
      ],
      [409, 'preparation_not_ready', async (own) => ({ preparation_id: await own.preparation() })],
      [
        409,
        'preparation_failed',
        async (own) => {
          const id = await own.preparation();
          await api.worker.analyze(id, { failure: 'no_face_detected' });
          return { preparation_id: id };
        },
      ],
      [410, 'asset_expired', async (own) => ({ audio: { asset_id: await own.expiredAsset('audio') } })],
      [
        410,
        'preparation_expired',
        async (own) => {
          const id = await own.completedPreparation();
          await own.expire(id);
          return { preparation_id: id };
        },
      ],
    ])('is %i %s', async (status, code, reference) => {
      expect(await refuse(renderRequest(await reference(scenario)))).toMatchObject({ status, code });
    });

    it("is 404 alike for an unknown, a malformed and another customer's asset or preparation", async () => {
      const stranger = createScenario(api, await api.newCustomer());
      const [asset, preparation] = [
        await stranger.readyAsset('video'),
        await stranger.completedPreparation(),
      ];
      const messages = new Set<string>();
      for (const id of [unknownId('ast'), 'ast_1', '', asset, `${asset}\0`]) {
        const refused = await refuse(renderRequest({ video: { asset_id: id } }));
        expect(refused).toMatchObject({ status: 404, code: 'asset_not_found' });
        messages.add(refused.message);
      }
      for (const id of [unknownId('prp'), 'prp_1', preparation]) {
        const refused = await refuse(renderRequest({ preparation_id: id }));
        expect(refused).toMatchObject({ status: 404, code: 'preparation_not_found' });
        messages.add(refused.message);
      }
      expect(messages.size).toBe(2);
    });

    it('says which of the two assets cannot be used, and why', async () => {
      const good = { video: await scenario.readyAsset('video'), audio: await scenario.readyAsset('audio') };
      for (const input of ['video', 'audio'] as const) {
        const ids = { ...good, [input]: await scenario.failedAsset(input) };
        const { message } = await refuse(
          renderRequest({ video: { asset_id: ids.video }, audio: { asset_id: ids.audio } }),
        );
        expect(message).toMatch(new RegExp(`^/${input}/asset_id: The media is damaged`));
      }
    });
  });

  describe('429', () => {
    it('concurrency_limit_exceeded, which names the limit, until a render ends; preparations count too', async () => {
      const limited = await api.newCustomer({ activeRecordsMax: 2 });
      const options = { key: limited.key, json: renderRequest() };
      const first = await api.operations.ok('create_render', options);
      await api.operations.ok('create_preparation', {
        key: limited.key,
        json: { video: renderRequest().video },
      });
      const refused = await api.operations.refused('create_render', options);
      expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
      expect(refused.message).toContain('At most 2 renders and preparations');
      expect(refused.headers.get('retry-after')).toBe('10');

      await api.operations.ok('cancel_render', { key: limited.key, id: first.body.id });
      await api.operations.ok('create_render', options);
    });
  });

  describe('503', () => {
    it('engine_unavailable when no worker serves one of the engines, and nothing is created', async () => {
      const refused = await refuse(renderRequest({ engines: ['musetalk', 'latentsync'] }));
      expect(refused).toMatchObject({ status: 503, code: 'engine_unavailable' });
      expect(refused.message).toMatch(/^latentsync: /);
      expect(refused.headers.get('retry-after')).toBe('30');
      expect(await countRenders()).toBe(0);
      expect(await api.db.prisma.asset.count({ where: { customerId: customer.id } })).toBe(0);
    });
  });

  describe('order of evaluation', () => {
    it('schema before URL policy before key rules', async () => {
      const bad = { ...renderRequest(), video: { url: 'https://10.0.0.1/' } };
      expect((await refuse({ ...bad, engines: [] }, { 'Idempotency-Key': 'x'.repeat(129) })).code).toBe(
        'invalid_request',
      );
      expect((await refuse(bad, { 'Idempotency-Key': 'x'.repeat(129) })).code).toBe('invalid_media_url');
    });

    it('idempotency before references', async () => {
      await create(renderRequest(), { 'Idempotency-Key': 'k' });
      const json = renderRequest({ video: { asset_id: unknownId('ast') } });
      expect((await refuse(json, { 'Idempotency-Key': 'k' })).code).toBe('idempotency_key_reused');
    });

    it('video before audio before preparation, each completely, then engine, then concurrency', async () => {
      const full = await api.newCustomer({ activeRecordsMax: 1 });
      const own = createScenario(api, full);
      const options = (changes: Parameters<typeof renderRequest>[0]) => ({
        key: full.key,
        json: renderRequest({ engines: ['latentsync'], ...changes }),
      });
      const failedVideo = { asset_id: await own.failedAsset('video') };
      const unknownAsset = { asset_id: unknownId('ast') };
      await api.operations.ok('create_render', { key: full.key, json: renderRequest() });
      const codes = [
        options({ video: failedVideo, audio: unknownAsset, preparation_id: unknownId('prp') }),
        options({ audio: unknownAsset, preparation_id: unknownId('prp') }),
        options({ preparation_id: unknownId('prp') }),
        options({}),
        options({ engines: ['musetalk'] }),
      ].map(async (request) => (await api.operations.refused('create_render', request)).code);
      expect(await Promise.all(codes)).toEqual([
        'asset_failed',
        'asset_not_found',
        'preparation_not_found',
        'engine_unavailable',
        'concurrency_limit_exceeded',
      ]);
    });
  });
});
