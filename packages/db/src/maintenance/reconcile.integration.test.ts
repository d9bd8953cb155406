import { misplacedCodes } from '../../test/misplaced-codes';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { getAsset } from '../inputs/assets';
import { claimJob } from '../jobs/claim';
import { completeRender } from '../jobs/complete';
import { type RecoveredJob } from '../jobs/job';
import { enqueueJobs } from '../queue/enqueue';
import { registerWorker, removeWorker } from '../queue/workers';
import { getRender } from '../renders/get-render';
import { failOverdue } from './overdue';
import { reconcile } from './reconcile';

const options = { isInQueue: async () => true, unservedSeconds: 1800 };

describe('reconcile', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  const state = async (renderId: string): Promise<Awaited<ReturnType<typeof getRender>>> =>
    getRender(scenario.db, scenario.customerId, renderId);

  it('finds nothing to do if nothing was lost', async () => {
    const { render } = await scenario.render();
    await scenario.claim(await scenario.jobOf(render.id));
    const counts = { requeued: 0, workerLost: 0, forgotten: 0, unserved: 0, expiredUploads: 0, overdue: 0 };
    expect(await reconcile(scenario.db, options)).toEqual({ ...counts, errors: [] });
  });

  it('reports every recovered job once, with its worker, its customer and the outcome', async () => {
    const { db, customerId, make } = scenario;
    const other = await make.customer();
    const [first, last] = [await scenario.render(), await scenario.render({}, other)];
    const asset = await scenario.asset();
    const [firstId, lastId] = [await scenario.jobOf(first.render.id), await scenario.jobOf(last.render.id)];
    const ingestId = await scenario.ingestJob(asset.id);
    const alive = await scenario.render();
    const claimed = [firstId, lastId, ingestId, await scenario.jobOf(alive.render.id)];
    for (const id of claimed) await claimJob(db, id, { workerId: `pod of ${id}`, leaseSeconds: 30 });
    for (const id of [firstId, lastId, ingestId]) await scenario.expireLease(id);
    await make.query('UPDATE jobs SET attempts = 3, fence = 3 WHERE id = $1', [lastId]);

    const told: RecoveredJob[] = [];
    const onRecovered = (job: RecoveredJob) => void told.push(job);
    await Promise.all(Array.from({ length: 3 }, () => reconcile(db, { ...options, onRecovered })));
    expect(told).toHaveLength(3);
    const toldOf = (id: string) => told.find(({ jobId }) => jobId === id);
    expect(toldOf(firstId)).toMatchObject({
      workerId: `pod of ${firstId}`,
      attempt: 1,
      fence: 1,
      customerId,
      engineRunId: only(first.runs).id,
      renderId: first.render.id,
      outcome: 'requeued',
    });
    const renderId = last.render.id;
    expect(toldOf(lastId)).toMatchObject({ attempt: 3, customerId: other, renderId, outcome: 'failed' });
    expect(toldOf(ingestId)).toMatchObject({ kind: 'ingest', assetId: asset.id, renderId: null });
    expect((await db.prisma.job.findUniqueOrThrow({ where: { id: firstId } })).workerId).toBeNull();
  });

  it('goes on if one query fails, and reports the failure', async () => {
    const abandoned = await scenario.render();
    await scenario.claim(await scenario.jobOf(abandoned.render.id));
    const stuck = await scenario.render();
    await scenario.make.query(
      `UPDATE jobs SET lease_until = now() - interval '1 second' WHERE status = 'running'`,
    );
    await scenario.make.query(`UPDATE renders SET created_at = now() - interval '3 hours' WHERE id = $1`, [
      stuck.render.id,
    ]);
    await scenario.make.query('ALTER TABLE uploads RENAME COLUMN expires_at TO elsewhere');
    const report = await reconcile(scenario.db, options);
    await scenario.make.query('ALTER TABLE uploads RENAME COLUMN elsewhere TO expires_at');
    expect(report).toMatchObject({ requeued: 1, overdue: 1, expiredUploads: 0 });
    expect(report.errors).toHaveLength(1);
  });

  it('fails a render that exceeds its deadline, and keeps what an engine has finished', async () => {
    const stuck = await scenario.render();
    const partly = await scenario.render({ engines: ['musetalk', 'highsync'] });
    const [first] = await scenario.jobs(partly.render.id);
    await completeRender(scenario.db, await scenario.claim(first?.id ?? ''), { outputKey: 'o', usage: {} });
    await scenario.make.query(`UPDATE renders SET created_at = now() - interval '2 hours 1 second'`);
    expect((await reconcile(scenario.db, options)).overdue).toBe(2);
    expect((await state(stuck.render.id)).render).toMatchObject({
      status: 'failed',
      errorCode: 'deadline_exceeded',
    });
    const details = await state(partly.render.id);
    expect(details.render.status).toBe('completed');
    expect(details.runs.map(({ errorCode }) => errorCode)).toEqual([null, 'deadline_exceeded']);
    expect(await scenario.events(stuck.render.id)).toMatchObject([{ type: 'render.failed' }]);
    expect(await scenario.events(partly.render.id)).toMatchObject([{ type: 'render.completed' }]);
  });

  it('fails a render and a preparation that are still open when they expire, before their deadline', async () => {
    const { db, make } = scenario;
    await scenario.render();
    await scenario.preparation();
    expect((await reconcile(db, options)).overdue).toBe(0);
    for (const table of ['renders', 'preparations'])
      await make.query(`UPDATE ${table} SET expires_at = now() - interval '1 second'`);
    expect((await reconcile(db, options)).overdue).toBe(2);
  });

  it('leaves a job alone that a worker has begun since it was found unserved', async () => {
    const { render } = await scenario.render();
    const { id } = only(await scenario.jobs(render.id));
    await scenario.claim(id);
    const unserved = { kind: 'job', id, errorCode: 'engine_unavailable' } as const;
    expect(await failOverdue(scenario.db, unserved)).toBe(false);
    expect((await state(render.id)).render.status).toBe('processing');
  });

  it('fails with engine_unavailable what waited long while no worker served its engine, and nothing else', async () => {
    const renders = [await scenario.render(), await scenario.render({ engines: ['highsync'] })];
    const fresh = await scenario.render();
    await scenario.make.query('DELETE FROM workers');
    await scenario.make.worker({ highsync: 1 });
    const waiting = renders.map(({ runs }) => only(runs).id);
    await scenario.make.query(
      `UPDATE jobs SET available_at = now() - interval '31 minutes' WHERE engine_run_id = ANY($1)`,
      [waiting],
    );
    expect((await reconcile(scenario.db, options)).overdue).toBe(1);
    const codes = await Promise.all(
      [...renders, fresh].map(async ({ render }) => (await state(render.id)).render.errorCode),
    );
    expect(codes).toEqual(['engine_unavailable', null, null]);
  });

  it('ignores the time in which the service was down, for instance before a restore from a backup', async () => {
    const { make } = scenario;
    await reconcile(scenario.db, options);
    const [open, waiting] = [await scenario.render(), await scenario.render({ engines: ['highsync'] })];
    await make.query('DELETE FROM workers');
    await make.query(`UPDATE renders SET created_at = now() - interval '3 hours'`);
    await make.query(`UPDATE jobs SET available_at = now() - interval '3 hours'`);
    await make.query(`UPDATE reconciliation SET ran_at = now() - interval '3 hours'`);
    const reports = await Promise.all([reconcile(scenario.db, options), reconcile(scenario.db, options)]);
    expect(reports.map(({ overdue }) => overdue)).toEqual([0, 0]);

    // From then on the usual deadlines apply: half an hour for a worker, two hours in total.
    const resumed = (ago: string) =>
      make.query(`UPDATE reconciliation SET resumed_at = now() - interval '${ago}'`);
    await make.worker({ highsync: 1 });
    await resumed('29 minutes');
    expect((await reconcile(scenario.db, options)).overdue).toBe(0);
    await resumed('31 minutes');
    expect((await reconcile(scenario.db, options)).overdue).toBe(1);
    expect((await state(open.render.id)).render.errorCode).toBe('engine_unavailable');
    await resumed('121 minutes');
    expect((await reconcile(scenario.db, options)).overdue).toBe(1);
    expect((await state(waiting.render.id)).render.errorCode).toBe('deadline_exceeded');
  });

  it('does not treat a short pause as an outage', async () => {
    const { make } = scenario;
    await reconcile(scenario.db, options);
    await scenario.render();
    await make.query(`UPDATE renders SET created_at = now() - interval '3 hours'`);
    await make.query(`UPDATE reconciliation SET ran_at = now() - interval '4 minutes'`);
    expect((await reconcile(scenario.db, options)).overdue).toBe(1);
  });

  it.each([90, 1800, 3600])(
    'gives a long backlog %i s from the moment its last worker left, if that is the deadline',
    async (unservedSeconds) => {
      const { db, make } = scenario;
      await make.query('DELETE FROM workers');
      await registerWorker(db, { id: 'old', service: 'gpu-worker', slots: { musetalk: 1 } });
      await scenario.render();
      await make.query(`UPDATE jobs SET available_at = now() - interval '5 hours'`);
      await removeWorker(db, 'old');
      const overdueAfter = async (seconds: number): Promise<number> => {
        await make.query('UPDATE workers SET seen_at = seen_at - make_interval(secs => $1)', [seconds]);
        return (await reconcile(db, { ...options, unservedSeconds })).overdue;
      };
      expect(await overdueAfter(0)).toBe(0);
      expect(await overdueAfter(unservedSeconds - 60)).toBe(0);
      expect(await overdueAfter(60)).toBe(1);
    },
  );

  it('does not count a worker as serving until it left if it had been cut off from the database before', async () => {
    const { db, make } = scenario;
    await make.query('DELETE FROM workers');
    await registerWorker(db, { id: 'old', service: 'gpu-worker', slots: { musetalk: 1 } });
    await scenario.render();
    await make.query(`UPDATE jobs SET available_at = now() - interval '31 minutes'`);
    await make.query(`UPDATE workers SET seen_at = now() - interval '32 minutes'`);
    await removeWorker(db, 'old');
    expect((await reconcile(db, options)).overdue).toBe(1);
  });

  it('takes jobs out of a queue whose workers are gone, so that they use up no share', async () => {
    const { db, make } = scenario;
    const customerId = await make.customer({ runningJobsMax: 1 });
    await make.query('DELETE FROM workers');
    await make.worker({ highsync: 1 });
    await scenario.render({ engines: ['highsync'] }, customerId);
    expect(await enqueueJobs(db, 'highsync')).toHaveLength(1);
    await make.query('DELETE FROM workers');
    await make.worker({ musetalk: 1 });
    await scenario.render({ engines: ['musetalk'] }, customerId);
    expect(await enqueueJobs(db, 'musetalk')).toEqual([]);
    await make.query(`UPDATE jobs SET enqueued_at = enqueued_at - interval '1 minute'`);
    expect(await reconcile(db, options)).toMatchObject({ unserved: 1, forgotten: 0 });
    expect(await enqueueJobs(db, 'musetalk')).toHaveLength(1);
    expect(await enqueueJobs(db, 'highsync')).toEqual([]);
  });

  it('fails an upload that nobody completed, half an hour after its creation', async () => {
    const { db, customerId } = scenario;
    const { upload, asset } = await scenario.upload();
    await scenario.make.query(`UPDATE uploads SET expires_at = now() - interval '14 minutes'`);
    expect((await reconcile(db, options)).expiredUploads).toBe(0);
    await scenario.make.query(`UPDATE uploads SET expires_at = now() - interval '15 minutes'`);
    expect((await reconcile(db, options)).expiredUploads).toBe(1);
    expect(await getAsset(db, customerId, asset.id)).toMatchObject({
      status: 'failed',
      errorCode: 'upload_expired',
    });
    expect((await db.prisma.upload.findUniqueOrThrow({ where: { id: upload.id } })).status).toBe('expired');
  });

  it('ends records and jobs only with codes that the contract allows for them', async () => {
    const { db, make } = scenario;
    const [lostAsset, lateAsset] = [await scenario.asset(), await scenario.asset()];
    const [lost, late, unserved] = [
      await scenario.render(),
      await scenario.render(),
      await scenario.render(),
    ];

    const lostJobs = [await scenario.ingestJob(lostAsset.id), await scenario.jobOf(lost.render.id)];
    for (const id of lostJobs) await scenario.claim(id);
    await make.query(
      `UPDATE jobs SET lease_until = now() - interval '1 s', attempts = 3, fence = 3 WHERE id = ANY($1)`,
      [lostJobs],
    );
    const lateJobs = [await scenario.ingestJob(lateAsset.id)];
    await make.query(`UPDATE jobs SET created_at = now() - interval '3 hours' WHERE id = ANY($1)`, [
      lateJobs,
    ]);
    await make.query(`UPDATE renders SET created_at = now() - interval '3 hours' WHERE id = $1`, [
      late.render.id,
    ]);
    await make.query(`UPDATE workers SET seen_at = now() - interval '1 day'`);
    await make.query(`UPDATE jobs SET available_at = now() - interval '1 day' WHERE id = $1`, [
      await scenario.jobOf(unserved.render.id),
    ]);

    expect(await reconcile(db, options)).toMatchObject({ workerLost: 2, overdue: 3, errors: [] });
    const codes = await make.query<{ code: string }>('SELECT error_code AS code FROM renders');
    const expected = ['deadline_exceeded', 'engine_unavailable', 'worker_lost'];
    expect(codes.map(({ code }) => code).sort()).toEqual(expected);
    expect(await misplacedCodes(make)).toEqual([]);
  });

  it('ends a turn in time however slow the database is, and makes progress in every turn', async () => {
    for (let i = 0; i < 3; i += 1) {
      const { render } = await scenario.render();
      await scenario.claim(await scenario.jobOf(render.id));
    }
    await scenario.make.query(`UPDATE jobs SET lease_until = now() - interval '1 second'`);
    const late = { ...options, turnMs: -1 };
    expect(await reconcile(scenario.db, late)).toMatchObject({ requeued: 1, errors: [] });
    expect(await reconcile(scenario.db, late)).toMatchObject({ requeued: 1, errors: [] });
    expect(await reconcile(scenario.db, options)).toMatchObject({ requeued: 1, errors: [] });
  });

  it('goes on with the others if one candidate cannot be handled', async () => {
    const broken = await scenario.render();
    const good = await scenario.render();
    for (const { render } of [broken, good]) await scenario.claim(await scenario.jobOf(render.id));
    await scenario.make.query(
      `UPDATE jobs SET lease_until = now() - interval '1 second', attempts = 3, fence = 3`,
    );
    await scenario.make.query(`UPDATE renders SET webhook_url = 'not a url' WHERE id = $1`, [
      broken.render.id,
    ]);
    const report = await reconcile(scenario.db, options);
    expect(report).toMatchObject({ workerLost: 1 });
    expect(report.errors).toHaveLength(1);
    expect((await state(good.render.id)).render.errorCode).toBe('worker_lost');
  });
});
