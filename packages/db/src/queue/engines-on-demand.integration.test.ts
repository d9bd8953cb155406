import { type Engine, type RenderRequest } from '@lipsync/contract';
import { codeOf, DAY_SECONDS, openScenario, type Scenario } from '../../test/scenario';
import { createPreparation } from '../inputs/preparations';
import { reconcile } from '../maintenance/reconcile';
import { createRender } from '../renders/create-render';
import { enqueueJobs } from './enqueue';
import { registerWorker, removeWorker } from './workers';

const isInQueue = async (): Promise<boolean> => true;

describe('engines whose workers are started on demand', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
    await scenario.make.query('DELETE FROM workers');
  });
  afterEach(() => scenario.close());

  async function create(engines: Engine[], enginesOnDemand: Engine[]): Promise<void> {
    const { db, make, customerId } = scenario;
    const video = { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) };
    const audio = { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) };
    const request: RenderRequest = { video, audio, engines, sync_mode: 'cut_off' };
    await createRender(db, {
      customerId,
      request,
      idempotency: null,
      ttlSeconds: DAY_SECONDS,
      enginesOnDemand,
    });
  }

  async function prepare(): Promise<void> {
    const { db, make, customerId } = scenario;
    const video = { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) };
    await createPreparation(db, {
      customerId,
      request: { video },
      idempotency: null,
      ttlSeconds: DAY_SECONDS,
    });
  }

  const waited = (time: string): Promise<unknown> =>
    scenario.make.query(`UPDATE jobs SET available_at = now() - $1::interval`, [time]);

  it('are accepted while no worker serves them, and no other engines with them', async () => {
    await create(['musetalk', 'highsync'], ['musetalk', 'highsync']);
    expect(await codeOf(create(['musetalk', 'latentsync'], ['musetalk']))).toBe('engine_unavailable');
    await registerWorker(scenario.db, { id: 'w', service: 'gpu-worker', slots: { latentsync: 1 } });
    await create(['musetalk', 'latentsync'], ['musetalk']);
  });

  it('get the work that waited for them as soon as a worker is there, renders and preparations alike', async () => {
    await create(['musetalk'], ['musetalk']);
    await prepare();
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
    expect(await enqueueJobs(scenario.db, 'preparation')).toEqual([]);
    const slots = { preparation: 1, musetalk: 1 };
    await registerWorker(scenario.db, { id: 'w', service: 'gpu-worker', slots });
    expect(await enqueueJobs(scenario.db, 'musetalk')).toHaveLength(1);
    expect(await enqueueJobs(scenario.db, 'preparation')).toHaveLength(1);
  });

  it('allow the configured time for a worker to start before their work is given up', async () => {
    await create(['musetalk'], ['musetalk']);
    await prepare();
    const overdue = async (unservedSeconds: number): Promise<number> =>
      (await reconcile(scenario.db, { isInQueue, unservedSeconds })).overdue;
    await waited('50 minutes');
    expect(await overdue(3600)).toBe(0);
    expect(await overdue(2400)).toBe(2);
  });

  it('keep a long backlog when their last worker goes', async () => {
    const slots = { preparation: 1, musetalk: 1 };
    await registerWorker(scenario.db, { id: 'w', service: 'gpu-worker', slots });
    await create(['musetalk'], ['musetalk']);
    await waited('5 hours');
    await removeWorker(scenario.db, 'w');
    expect((await reconcile(scenario.db, { isInQueue, unservedSeconds: 1800 })).overdue).toBe(0);
  });

  it.each([90, 3600])(
    'give %i s from the moment their last worker left, if that is the deadline',
    async (unservedSeconds) => {
      const slots = { preparation: 1, musetalk: 1 };
      await registerWorker(scenario.db, { id: 'w', service: 'gpu-worker', slots });
      await create(['musetalk'], ['musetalk']);
      await waited('5 hours');
      await removeWorker(scenario.db, 'w');
      const overdueAfter = async (seconds: number): Promise<number> => {
        await scenario.make.query('UPDATE workers SET seen_at = seen_at - make_interval(secs => $1)', [
          seconds,
        ]);
        return (await reconcile(scenario.db, { isInQueue, unservedSeconds })).overdue;
      };
      expect(await overdueAfter(unservedSeconds - 60)).toBe(0);
      expect(await overdueAfter(60)).toBe(1);
    },
  );
});
