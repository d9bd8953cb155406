import { ENGINES, SYNC_MODES } from '@lipsync/contract';
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
      const { body } = await create(
        renderRequest({ engines: ['highsync', 'musetalk'], sync_mode: 'bounce' }),
      );
      expect(body).toMatchObject({
        status: 'accepted',
        stage: 'queued',
        progress_percent: 0,
        sync_mode: 'bounce',
      });
      expect(body.engines?.map(({ engine, status, stage }) => [engine, status, stage])).toEqual([
        ['highsync', 'accepted', 'queued'],
        ['musetalk', 'accepted', 'queued'],
      ]);
      expect(body.engines?.[0]?.usage).toEqual({
        engine: 'highsync',
        status: 'accepted',
        gpu_inference_seconds: null,
        billed_pod_seconds: null,
        observed_pod_seconds: null,
        estimated_compute_usd: null,
        gpu_models: [],
        estimate_coverage: 'unavailable',
      });
      expect(body.status_url).toBe(`https://api.example.com/v1/renders/${body.id}`);
      expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(7 * 86_400_000);
    });

    it('creates a separate asset for every URL', async () => {
      const [first, second] = [await create(renderRequest()), await create(renderRequest())];
      const ids = [first, second].flatMap(({ body }) => [body.video_asset_id, body.audio_asset_id]);
      expect(new Set(ids).size).toBe(4);
      const video = await api.operations.ok('get_asset', {
        key: customer.key,
        id: first.body.video_asset_id,
      });
      expect(video.body).toMatchObject({ status: 'pending', media_type: 'video' });
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

    it('accepts a webhook URL on any port', async () => {
      await expect(create(renderRequest({ webhook_url: WEBHOOK_URL }))).resolves.toMatchObject({
        status: 202,
      });
    });

    it('accepts a completed preparation of the same video, and shows it', async () => {
      const video = await scenario.readyAsset('video');
      const preparation = await scenario.completedPreparation(video);
      const { body } = await create(
        renderRequest({ video: { asset_id: video }, preparation_id: preparation }),
      );
      expect(body).toMatchObject({ preparation_id: preparation, preparation: { frames: 50, fps: 25 } });
    });

    it('accepts a preparation made from another asset with the same bytes', async () => {
      const [one, other] = [
        await scenario.readyAsset('video', 'cd'.repeat(32)),
        await scenario.readyAsset('video', 'cd'.repeat(32)),
      ];
      const preparation = await scenario.completedPreparation(one);
      const { body } = await create(
        renderRequest({ video: { asset_id: other }, preparation_id: preparation }),
      );
      expect(body.preparation_id).toBe(preparation);
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

    it('ignores the order of properties', async () => {
      const json = renderRequest();
      const first = await create(json, { 'Idempotency-Key': 'k' });
      const reversed = Object.fromEntries(Object.entries(json).reverse());
      expect((await create(reversed, { 'Idempotency-Key': 'k' })).body.id).toBe(first.body.id);
    });

    it('lets another customer use the same key', async () => {
      const other = await api.newCustomer();
      const first = await create(renderRequest(), { 'Idempotency-Key': 'shared' });
      const headers = { 'Idempotency-Key': 'shared' };
      const second = await api.operations.ok('create_render', {
        key: other.key,
        json: renderRequest(),
        headers,
      });
      expect(second.body.id).not.toBe(first.body.id);
    });

    it('replays even when the asset has expired and the customer is at its limit', async () => {
      const limited = await api.newCustomer({ activeRecordsMax: 1 });
      const own = createScenario(api, limited);
      const video = await own.readyAsset('video');
      const options = {
        key: limited.key,
        json: renderRequest({ video: { asset_id: video } }),
        headers: { 'Idempotency-Key': 'k' },
      };
      const first = await api.operations.ok('create_render', options);
      await own.expire(video);
      expect((await api.operations.ok('create_render', options)).body.id).toBe(first.body.id);
    });

    it('treats an empty key as none', async () => {
      const json = { ...renderRequest(), idempotency_key: '' };
      const [first, second] = [await create(json), await create(json)];
      expect(first.body.id).not.toBe(second.body.id);
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

    it('does not consume the key when a request is refused', async () => {
      const refused = await refuse(renderRequest({ engines: ['latentsync'] }), {
        'Idempotency-Key': 'again',
      });
      expect(refused.code).toBe('engine_unavailable');
      const { headers } = await create(renderRequest(), { 'Idempotency-Key': 'again' });
      expect(headers.get('idempotent-replayed')).toBeNull();
    });
  });

  describe('400', () => {
    const asset = { asset_id: 'ast_00000000000000000000000000' };
    const url = { url: 'https://media.example.com/x.mp4' };
    const withProto = JSON.parse('{"__proto__": {"engines": []}}') as object;

    it.each<[string, object, string]>([
      ['an unknown property', { ...renderRequest(), colour: 'red' }, '/colour'],
      ['a property named __proto__', { ...renderRequest(), ...withProto }, '/__proto__'],
      ['no video', { ...renderRequest(), video: undefined }, '/video'],
      ['no sync_mode', { ...renderRequest(), sync_mode: undefined }, '/sync_mode'],
      ['an unknown sync_mode', { ...renderRequest(), sync_mode: 'stretch' }, '/sync_mode'],
      ['video of the wrong type', { ...renderRequest(), video: 'https://media.example.com/x.mp4' }, '/video'],
      ['both asset_id and url', { ...renderRequest(), video: { ...asset, ...url } }, '/video'],
      ['neither asset_id nor url', { ...renderRequest(), audio: {} }, '/audio'],
      ['asset_id of the wrong type', { ...renderRequest(), video: { asset_id: 7 } }, '/video/asset_id'],
      [
        'an unknown property of an input',
        { ...renderRequest(), audio: { ...url, start: 1 } },
        '/audio/start',
      ],
      ['no engine', { ...renderRequest(), engines: [] }, '/engines'],
      ['four engines', { ...renderRequest(), engines: [...ENGINES, 'musetalk'] }, '/engines'],
      ['the same engine twice', { ...renderRequest(), engines: ['musetalk', 'musetalk'] }, '/engines'],
      ['an unknown engine', { ...renderRequest(), engines: ['wav2lip'] }, '/engines/0'],
      ['engines of the wrong type', { ...renderRequest(), engines: 'musetalk' }, '/engines'],
      ['null for an optional property', { ...renderRequest(), webhook_url: null }, '/webhook_url'],
      ['a key of the wrong type', { ...renderRequest(), idempotency_key: 7 }, '/idempotency_key'],
    ])('invalid_request for %s, naming the place', async (_, json, place) => {
      const { status, code, message } = await refuse(json);
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
      expect(message).toContain(place);
    });

    it.each([
      ['http', 'http://media.example.com/a.mp4'],
      ['another scheme', 'ftp://media.example.com/a.mp4'],
      ['no URL at all', 'media.example.com/a.mp4'],
      ['another port', 'https://media.example.com:8443/a.mp4'],
      ['user information', 'https://user:password@media.example.com/a.mp4'],
      ['localhost', 'https://localhost/a.mp4'],
      ['a loopback address', 'https://127.0.0.1/a.mp4'],
      ['a loopback address in disguise', 'https://0x7f.1/a.mp4'],
      ['a private address', 'https://10.1.2.3/a.mp4'],
      ['the metadata service', 'https://169.254.169.254/latest/meta-data'],
      ['a mapped address', 'https://[::ffff:127.0.0.1]/a.mp4'],
      ['an internal name', 'https://postgres.internal/a.mp4'],
      ['a single label', 'https://redis/a.mp4'],
      ['more than 8192 characters', `https://media.example.com/${'a'.repeat(8192)}`],
    ])('invalid_media_url for %s, as video and as audio, saying which', async (_, address) => {
      for (const input of ['video', 'audio']) {
        const { status, code, message } = await refuse({ ...renderRequest(), [input]: { url: address } });
        expect({ status, code }).toEqual({ status: 400, code: 'invalid_media_url' });
        expect(message).toContain(`/${input}/url `);
      }
    });

    it.each([
      ['http', 'http://hooks.example.com/x'],
      ['user information', 'https://user@hooks.example.com/x'],
      ['a private address', 'https://192.168.0.1/x'],
      ['a loopback name', 'https://localhost:8443/x'],
      ['no URL at all', 'hooks'],
    ])('invalid_webhook_url for %s', async (_, address) => {
      const { status, code } = await refuse(renderRequest({ webhook_url: address }));
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_webhook_url' });
    });

    it('invalid_idempotency_key for 129 characters, in header and body; accepts 128', async () => {
      const long = 'k'.repeat(129);
      expect((await refuse(renderRequest(), { 'Idempotency-Key': long })).code).toBe(
        'invalid_idempotency_key',
      );
      expect((await refuse({ ...renderRequest(), idempotency_key: long })).code).toBe(
        'invalid_idempotency_key',
      );
      await create({ ...renderRequest(), idempotency_key: long.slice(1) });
    });

    it('idempotency_key_mismatch when header and body differ', async () => {
      const { status, code } = await refuse(
        { ...renderRequest(), idempotency_key: 'a' },
        { 'Idempotency-Key': 'b' },
      );
      expect({ status, code }).toEqual({ status: 400, code: 'idempotency_key_mismatch' });
    });

    it('asset_type_mismatch for an audio asset as video and vice versa', async () => {
      const [video, audio] = [await scenario.readyAsset('video'), await scenario.readyAsset('audio')];
      const swapped = [
        renderRequest({ video: { asset_id: audio } }),
        renderRequest({ audio: { asset_id: video } }),
      ];
      for (const json of swapped) {
        const { status, code } = await refuse(json);
        expect({ status, code }).toEqual({ status: 400, code: 'asset_type_mismatch' });
      }
    });

    it('preparation_mismatch for a preparation of another video', async () => {
      const preparation = await scenario.completedPreparation(
        await scenario.readyAsset('video', 'aa'.repeat(32)),
      );
      const video = await scenario.readyAsset('video', 'bb'.repeat(32));
      const { status, code } = await refuse(
        renderRequest({ video: { asset_id: video }, preparation_id: preparation }),
      );
      expect({ status, code }).toEqual({ status: 400, code: 'preparation_mismatch' });
    });
  });

  describe('404', () => {
    it("asset_not_found for an unknown, a malformed and another customer's asset alike", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).readyAsset('video');
      const messages = new Set<string>();
      for (const id of [unknownId('ast'), 'ast_1', '', foreign, `${foreign}\0`]) {
        const { status, code, message } = await refuse(renderRequest({ video: { asset_id: id } }));
        expect({ status, code }).toEqual({ status: 404, code: 'asset_not_found' });
        messages.add(message);
      }
      expect(messages.size).toBe(1);
    });

    it("preparation_not_found for an unknown, a malformed and another customer's preparation alike", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).completedPreparation();
      for (const id of [unknownId('prp'), 'prp_1', foreign]) {
        const { status, code } = await refuse(renderRequest({ preparation_id: id }));
        expect({ status, code }).toEqual({ status: 404, code: 'preparation_not_found' });
      }
    });
  });

  describe('409', () => {
    it('idempotency_key_reused for another payload, and for another operation', async () => {
      await create(renderRequest(), { 'Idempotency-Key': 'k' });
      const changed = await refuse(renderRequest({ sync_mode: 'loop' }), { 'Idempotency-Key': 'k' });
      expect(changed).toMatchObject({ status: 409, code: 'idempotency_key_reused' });

      const { code } = await api.operations.refused('create_preparation', {
        key: customer.key,
        json: { video: renderRequest().video },
        headers: { 'Idempotency-Key': 'k' },
      });
      expect(code).toBe('idempotency_key_reused');
    });

    it('asset_not_ready for an asset that awaits its upload', async () => {
      const { status, code } = await refuse(
        renderRequest({ video: { asset_id: await scenario.awaitingAsset() } }),
      );
      expect({ status, code }).toEqual({ status: 409, code: 'asset_not_ready' });
    });

    it('asset_failed for a failed asset', async () => {
      const { status, code } = await refuse(
        renderRequest({ audio: { asset_id: await scenario.failedAsset('audio') } }),
      );
      expect({ status, code }).toEqual({ status: 409, code: 'asset_failed' });
    });

    it('says which of the two assets it concerns', async () => {
      const good = { video: await scenario.readyAsset('video'), audio: await scenario.readyAsset('audio') };
      for (const input of ['video', 'audio'] as const) {
        const ids = { ...good, [input]: await scenario.failedAsset(input) };
        const { message } = await refuse(
          renderRequest({ video: { asset_id: ids.video }, audio: { asset_id: ids.audio } }),
        );
        expect(message).toMatch(new RegExp(`^/${input}/asset_id: The asset has failed`));
      }
    });

    it('preparation_not_ready or preparation_failed, by the state of the preparation', async () => {
      const preparation = await scenario.preparation();
      expect((await refuse(renderRequest({ preparation_id: preparation }))).code).toBe(
        'preparation_not_ready',
      );
      await api.worker.analyze(preparation, { failure: 'no_face_detected' });
      expect((await refuse(renderRequest({ preparation_id: preparation }))).code).toBe('preparation_failed');
    });
  });

  describe('410', () => {
    it('asset_expired for an expired asset', async () => {
      const expired = await scenario.expiredAsset('audio');
      const { status, code } = await refuse(renderRequest({ audio: { asset_id: expired } }));
      expect({ status, code }).toEqual({ status: 410, code: 'asset_expired' });
    });

    it('preparation_expired for an expired preparation', async () => {
      const preparation = await scenario.completedPreparation();
      await scenario.expire(preparation);
      const { status, code } = await refuse(renderRequest({ preparation_id: preparation }));
      expect({ status, code }).toEqual({ status: 410, code: 'preparation_expired' });
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
