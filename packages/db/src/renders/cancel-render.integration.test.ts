import { assetResource } from '@lipsync/domain';
import { codeOf, MEDIA, only, openScenario, type Scenario } from '../../test/scenario';
import { createAsset, getAsset } from '../inputs/assets';
import { createPreparation } from '../inputs/preparations';
import { type Claim, claimJob } from '../jobs/claim';
import { completeIngest, completeRender } from '../jobs/complete';
import { failJob } from '../jobs/fail';
import { heartbeatJob } from '../jobs/heartbeat';
import { cancelRender } from './cancel-render';
import { getRender } from './get-render';

const result = { outputKey: 'outputs/run/1/video.mp4', usage: {} };

describe('cancelRender', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  const cancel = (renderId: string, customerId = scenario.customerId): ReturnType<typeof cancelRender> =>
    cancelRender(scenario.db, customerId, renderId);

  it('cancels an accepted render, whose job can then no longer be claimed', async () => {
    const { render } = await scenario.render();
    const job = only(await scenario.jobs(render.id));
    const cancelled = await cancel(render.id);
    expect(cancelled.render).toMatchObject({ status: 'cancelled', stage: 'cancelled', errorCode: null });
    expect(cancelled.runs.map(({ status, errorCode }) => [status, errorCode])).toEqual([['cancelled', null]]);
    expect(cancelled.render.completedAt).not.toBeNull();
    expect(await claimJob(scenario.db, job.id, { workerId: 'late', leaseSeconds: 30 })).toBeNull();
    const event = only(await scenario.events(render.id));
    expect(event.type).toBe('render.cancelled');
    expect(JSON.parse(event.body)).toMatchObject({ data: { status: 'cancelled' } });
  });

  it('stops a running job at its next heartbeat and returns its id, so that the worker can be notified sooner', async () => {
    const { render } = await scenario.render();
    const job = only(await scenario.jobs(render.id));
    const lease = await scenario.claim(job.id);
    expect((await cancel(render.id)).cancelledJobIds).toEqual([job.id]);
    expect(await heartbeatJob(scenario.db, lease, { leaseSeconds: 30 })).toBe(false);
    expect(await completeRender(scenario.db, lease, result)).toBe(false);
  });

  it('keeps the output of a finished engine and cancels the others', async () => {
    const { render } = await scenario.render({ engines: ['musetalk', 'highsync'] });
    const [first] = await scenario.jobs(render.id);
    await completeRender(scenario.db, await scenario.claim(first?.id ?? ''), result);
    const { runs } = await cancel(render.id);
    expect(runs.map(({ status, outputKey }) => [status, outputKey])).toEqual([
      ['completed', result.outputKey],
      ['cancelled', null],
    ]);
  });

  it('changes nothing if repeated', async () => {
    const { render } = await scenario.render();
    const first = await cancel(render.id);
    const second = await cancel(render.id);
    expect(second).toEqual({ ...first, cancelledJobIds: [] });
    expect(await scenario.events(render.id)).toHaveLength(1);
  });

  it('cancels once under many concurrent calls', async () => {
    const { render } = await scenario.render();
    await Promise.all(Array.from({ length: 6 }, () => cancel(render.id)));
    expect(await scenario.events(render.id)).toHaveLength(1);
  });

  it('refuses a completed and a failed render', async () => {
    const completed = (await scenario.render()).render;
    await completeRender(
      scenario.db,
      await scenario.claim(only(await scenario.jobs(completed.id)).id),
      result,
    );
    const failed = (await scenario.render()).render;
    await failJob(
      scenario.db,
      await scenario.claim(only(await scenario.jobs(failed.id)).id),
      'engine_failed',
    );
    expect(await codeOf(cancel(completed.id))).toBe('render_not_cancellable');
    expect(await codeOf(cancel(failed.id))).toBe('render_not_cancellable');
    expect((await getRender(scenario.db, scenario.customerId, completed.id)).render.status).toBe('completed');
  });

  it('does not find unknown or malformed ids or those of other customers, and reports expired renders as such', async () => {
    const { render } = await scenario.render();
    expect(await codeOf(cancel(render.id, await scenario.make.customer()))).toBe('render_not_found');
    expect(await codeOf(cancel(render.id.replace(/.{6}$/, '000000')))).toBe('render_not_found');
    expect(await codeOf(cancel('ren_\0'))).toBe('render_not_found');
    await scenario.make.query(`UPDATE renders SET expires_at = now() - interval '1 ms' WHERE id = $1`, [
      render.id,
    ]);
    expect(await codeOf(cancel(render.id))).toBe('render_expired');
    expect(await codeOf(getRender(scenario.db, scenario.customerId, render.id))).toBe('render_expired');
  });

  const video = { url: 'https://media.example.com/v.mp4' };
  const audio = { url: 'https://media.example.com/a.mp3' };
  const assetOf = (id: string): ReturnType<typeof getAsset> => getAsset(scenario.db, scenario.customerId, id);
  const holdsIngest = async (lease: Claim): Promise<boolean> =>
    heartbeatJob(scenario.db, lease, { leaseSeconds: 30 });

  it('stops the downloads of its URLs, running or not, and says so in their assets', async () => {
    const { render } = await scenario.render({ video, audio });
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
    const { db, customerId } = scenario;
    const created = { customerId, mediaType: 'video', url: video.url, ttlSeconds: 600 } as const;
    const asset = await createAsset(db, created);
    const { render } = await scenario.render({ video: { asset_id: asset.id } });
    const lease = await scenario.claim(await scenario.ingestJob(asset.id));
    await cancel(render.id);
    expect(await holdsIngest(lease)).toBe(true);
  });

  it('leaves alone a download that another render or preparation waits for, until that ends too', async () => {
    const { render } = await scenario.render({ video, audio });
    const asset_id = render.videoAssetId;
    const other = await scenario.render({ video: { asset_id } });
    const lease = await scenario.claim(await scenario.ingestJob(asset_id));
    await cancel(render.id);
    expect(await holdsIngest(lease)).toBe(true);
    expect((await assetOf(render.audioAssetId)).status).toBe('failed');
    await completeIngest(scenario.db, lease, MEDIA);
    expect(only(await scenario.jobs(other.render.id)).status).toBe('queued');

    const prepared = (await scenario.render({ video, audio })).render;
    await createPreparation(scenario.db, {
      customerId: scenario.customerId,
      idempotency: null,
      ttlSeconds: 600,
      request: { video: { asset_id: prepared.videoAssetId } },
    });
    await cancel(prepared.id);
    expect((await assetOf(prepared.videoAssetId)).status).toBe('pending');
  });

  it('neither deadlocks with the ends of its downloads nor leaves one unfinished', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { render } = await scenario.render({ video, audio });
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

  it('writes no event without a webhook URL', async () => {
    const { video, audio } = await inputs();
    const { render } = await scenario.render({ video, audio, webhook_url: undefined as never });
    expect((await cancel(render.id)).webhookEventId).toBeNull();
    expect(await scenario.events(render.id)).toEqual([]);
  });

  async function inputs(): Promise<{ video: { asset_id: string }; audio: { asset_id: string } }> {
    const { make, customerId } = scenario;
    return {
      video: { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) },
      audio: { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) },
    };
  }
});
