import { ENGINES, type RenderRequest } from '@lipsync/contract';
import { createScenario, renderRequest, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

/** The response to a create is composed, not read back from the database: both must agree. */
describe('a created render', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;

  beforeAll(async () => {
    api = await startApi({ engines: ENGINES });
    customer = await api.newCustomer({ activeRecordsMax: 1000, postPerMinute: 10_000 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  async function expectSame(json: RenderRequest): Promise<void> {
    const { key } = customer;
    const { body } = await api.operations.ok('create_render', { key, json });
    expect((await api.operations.ok('get_render', { key, id: body.id })).body).toEqual(body);
  }

  const byUrls = (): RenderRequest => renderRequest({ engines: [...ENGINES], webhook_url: WEBHOOK_URL });
  async function byAssets(): Promise<RenderRequest> {
    const video = await scenario.readyAsset('video');
    const audio = { asset_id: await scenario.pendingAsset('audio') };
    const preparation = await scenario.completedPreparation(video);
    const inputs = { video: { asset_id: video }, audio, preparation_id: preparation };
    return { ...byUrls(), ...inputs, engines: [...ENGINES].reverse(), sync_mode: 'loop' };
  }

  it('matches what get_render returns, when created from URLs', async () => {
    await expectSame(byUrls());
    await expectSame(renderRequest());
  });

  it('matches what get_render returns, when created from assets and a preparation', async () => {
    await expectSame(await byAssets());
  });

  it('matches what get_render returns, when created together with others', async () => {
    const requests = [byUrls(), await byAssets(), renderRequest(), { ...byUrls(), idempotency_key: 'k' }];
    await Promise.all([...requests, ...requests].map((request) => expectSame(request)));
  });

  it('has the URLs as vetted, while its request is remembered as written', async () => {
    const { key } = customer;
    const json = {
      ...renderRequest({ webhook_url: 'https://hooks.example.com./lipsync' }),
      video: { url: 'https://MEDIA.example.com./a.mp4' },
      audio: { url: 'https://media.example.com./a.wav' },
      idempotency_key: 'written',
    };
    const { body } = await api.operations.ok('create_render', { key, json });
    const sources = await api.db.prisma.asset.findMany({
      where: { id: { in: [body.video_asset_id, body.audio_asset_id ?? ''] } },
    });
    expect(sources.map(({ sourceUrl }) => sourceUrl).sort()).toEqual([
      'https://media.example.com/a.mp4',
      'https://media.example.com/a.wav',
    ]);
    const { webhookUrl } = await api.db.prisma.render.findUniqueOrThrow({ where: { id: body.id } });
    expect(webhookUrl).toBe('https://hooks.example.com/lipsync');
    expect((await api.operations.ok('create_render', { key, json })).body.id).toBe(body.id);
    const rewritten = { ...json, webhook_url: webhookUrl };
    const { code } = await api.operations.refused('create_render', { key, json: rewritten });
    expect(code).toBe('idempotency_key_reused');
  });
});
