import { getRender } from '../../test/one-render';
import { codeOf, only, openScenario, type Scenario } from '../../test/scenario';
import { claimJob } from '../jobs/claim';
import { completeRender } from '../jobs/complete';
import { failJob } from '../jobs/give-up';
import { heartbeatJob } from '../jobs/heartbeat';
import { cancelRender } from './cancel-render';

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
