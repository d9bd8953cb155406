import { assetResource } from '@lipsync/domain';
import { AUDIO, MEDIA, only, openScenario, type Scenario, VIDEO } from '../../test/scenario';
import { getAsset } from '../inputs/assets';
import { type Claim, claimJob } from '../jobs/claim';
import { completeIngest, completeRender } from '../jobs/complete';
import { heartbeatJob } from '../jobs/heartbeat';
import { cancelRender } from './cancel-render';

describe('cancelRender', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  const cancel = (renderId: string): ReturnType<typeof cancelRender> =>
    cancelRender(scenario.db, scenario.customerId, renderId);

  it('stops a running job at its next heartbeat and returns its id, so that the worker can be notified sooner', async () => {
    const { render } = await scenario.render();
    const job = only(await scenario.jobs(render.id));
    const lease = await scenario.claim(job.id);
    expect((await cancel(render.id)).cancelledJobIds).toEqual([job.id]);
    expect(await heartbeatJob(scenario.db, lease, { leaseSeconds: 30 })).toBe(false);
    expect(await completeRender(scenario.db, lease, { outputKey: 'o', usage: {} })).toBe(false);
  });

  it('cancels once under many concurrent calls', async () => {
    const { render } = await scenario.render();
    await Promise.all(Array.from({ length: 6 }, () => cancel(render.id)));
    expect(await scenario.events(render.id)).toHaveLength(1);
  });

  const assetOf = (id: string): ReturnType<typeof getAsset> => getAsset(scenario.db, scenario.customerId, id);
  const holdsIngest = async (lease: Claim): Promise<boolean> =>
    heartbeatJob(scenario.db, lease, { leaseSeconds: 30 });

  it('stops the downloads of its URLs, running or not, and says so in their assets', async () => {
    const { render } = await scenario.render({ video: VIDEO, audio: AUDIO });
    const running = await scenario.claim(await scenario.ingestJob(render.videoAssetId));
    await cancel(render.id);
    expect(await holdsIngest(running)).toBe(false);
    const waiting = await scenario.ingestJob(render.audioAssetId);
    expect(await claimJob(scenario.db, waiting, { workerId: 'late', leaseSeconds: 30 })).toBeNull();
    for (const id of [render.videoAssetId, render.audioAssetId]) {
      expect(assetResource(await assetOf(id))).toMatchObject({
        status: 'failed',
        error: { code: 'media_download_failed', message: expect.stringContaining('was cancelled') as string },
      });
    }
  });

  it('leaves alone the download of an asset that its customer created', async () => {
    const asset = await scenario.asset();
    const { render } = await scenario.render({ video: { asset_id: asset.id } });
    const lease = await scenario.claim(await scenario.ingestJob(asset.id));
    await cancel(render.id);
    expect(await holdsIngest(lease)).toBe(true);
  });

  it('leaves alone a download that another render or preparation waits for, until that ends too', async () => {
    const { render } = await scenario.render({ video: VIDEO, audio: AUDIO });
    const asset_id = render.videoAssetId;
    const other = await scenario.render({ video: { asset_id } });
    const lease = await scenario.claim(await scenario.ingestJob(asset_id));
    await cancel(render.id);
    expect(await holdsIngest(lease)).toBe(true);
    expect((await assetOf(render.audioAssetId)).status).toBe('failed');
    await completeIngest(scenario.db, lease, MEDIA);
    expect(only(await scenario.jobs(other.render.id)).status).toBe('queued');

    const prepared = (await scenario.render({ video: VIDEO, audio: AUDIO })).render;
    await scenario.preparation({ asset_id: prepared.videoAssetId });
    await cancel(prepared.id);
    expect((await assetOf(prepared.videoAssetId)).status).toBe('pending');
  });

  it('neither deadlocks with the ends of its downloads nor leaves one unfinished', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { render } = await scenario.render({ video: VIDEO, audio: AUDIO });
      const ids = [render.videoAssetId, render.audioAssetId];
      const claims = await Promise.all(ids.map(async (id) => scenario.claim(await scenario.ingestJob(id))));
      await Promise.all([
        cancel(render.id),
        ...claims.map((claim) => completeIngest(scenario.db, claim, MEDIA)),
      ]);
      for (const id of ids) expect(['ready', 'failed']).toContain((await assetOf(id)).status);
      expect(await scenario.events(render.id)).toHaveLength(1);
    }
  });
});
