import { type MeasuredUsage } from '@lipsync/domain';
import { usageAndRuns } from '../../test/expected-usage';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { completeRender } from '../jobs/complete';
import { failJob, retryJob } from '../jobs/fail';
import { failOverdue } from '../maintenance/overdue';
import { purge } from '../maintenance/purge';
import { reconcile } from '../maintenance/reconcile';
import { cancelRender } from '../renders/cancel-render';
import { anonymizeUsage, listUsage, sumUsage, totalsOf, type UsageSearch } from './run-usage';

const MEASURED: MeasuredUsage = {
  input_video_seconds: 9.5,
  input_audio_seconds: 4.25,
  output_seconds: 4.24,
  rendered_frames: 106,
  gpu_inference_seconds: 1.5,
  estimated_compute_usd: 0.012345,
};
const OCTOBER = new Date('2026-10-01T00:00:00Z');
const STORAGE = { delete: async () => undefined, list: async function* () {} };
const KEYS = { assetPrefix: () => 'a/', outputKey: () => 'o', featureKey: () => 'f' };

describe('usage', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  const complete = async (jobId: string, usage: MeasuredUsage = MEASURED): Promise<boolean> =>
    completeRender(scenario.db, await scenario.claim(jobId), { outputKey: 'outputs/x', usage });

  async function outcomesOf(renderId: string): Promise<Record<string, string>> {
    const { expected, actual } = await usageAndRuns(scenario.db, renderId);
    expect(actual).toEqual(expected);
    return Object.fromEntries(actual.map(({ engine, outcome }) => [engine, outcome]));
  }

  /** Usage of a run that has nothing else left. */
  const insert = (id: string, customerId: string, finishedAt: string, outcome = 'completed') =>
    scenario.make.query(
      `INSERT INTO run_usage (id, render_id, customer_id, engine, outcome, finished_at, output_seconds, frames, cost_usd)
       VALUES ($1, 'ren_' || $1, $2, 'musetalk', $4, $3, 30, 750, CASE WHEN $4 = 'completed' THEN 0.5 END)`,
      [id, customerId, finishedAt, outcome],
    );

  it('of a completed run is what its record shows, at the time at which it ended', async () => {
    const { render } = await scenario.render();
    await complete(await scenario.jobOf(render.id));
    expect(await outcomesOf(render.id)).toEqual({ musetalk: 'completed' });
    const { actual } = await usageAndRuns(scenario.db, render.id);
    expect(only(actual)).toMatchObject({
      outputSeconds: 4.24,
      frames: 106,
      gpuSeconds: 1.5,
      costUsd: 0.012345,
    });
  });

  it('is there for every way in which a run ends, and not before', async () => {
    const { db, customerId } = scenario;
    const { render } = await scenario.render({ engines: ['musetalk', 'latentsync', 'highsync'] });
    const [first, second] = await scenario.jobs(render.id);
    await complete(first?.id ?? '');
    await failJob(db, await scenario.claim(second?.id ?? ''), 'no_face_detected');
    expect(await outcomesOf(render.id)).toEqual({ musetalk: 'completed', latentsync: 'failed' });
    await cancelRender(db, customerId, render.id);
    await cancelRender(db, customerId, render.id);
    expect(await outcomesOf(render.id)).toEqual({
      musetalk: 'completed',
      latentsync: 'failed',
      highsync: 'cancelled',
    });

    const { render: late } = await scenario.render();
    await failOverdue(db, { kind: 'render', id: late.id, errorCode: 'deadline_exceeded' });
    expect(await outcomesOf(late.id)).toEqual({ musetalk: 'failed' });

    const { render: starved } = await scenario.render({ audio: { url: 'https://media.example.com/a.wav' } });
    const { audioAssetId } = starved;
    await failJob(db, await scenario.claim(await scenario.ingestJob(audioAssetId)), 'media_corrupt');
    expect(await outcomesOf(starved.id)).toEqual({ musetalk: 'failed' });
  });

  it('counts a run once that was retried, lost its worker, and was completed twice', async () => {
    const { db } = scenario;
    const { render } = await scenario.render();
    const jobId = await scenario.jobOf(render.id);
    const failure = { errorCode: 'engine_failed', delaySeconds: 0, refundAttempt: false } as const;
    await retryJob(db, await scenario.claim(jobId), failure);
    const lost = await scenario.claim(jobId);
    await scenario.expireLease(jobId);
    await reconcile(db, { isInQueue: async () => true, unservedSeconds: 1800 });
    expect(await outcomesOf(render.id)).toEqual({});
    await complete(jobId);
    const late = { outputKey: 'outputs/late', usage: { ...MEASURED, output_seconds: 99 } };
    expect(await completeRender(db, lost, late)).toBe(false);
    expect(await outcomesOf(render.id)).toEqual({ musetalk: 'completed' });
  });

  it('is kept when the transaction that ends the run is, and only then', async () => {
    const { db, make } = scenario;
    const { render } = await scenario.render();
    await make.query(
      `ALTER TABLE webhook_events ADD CONSTRAINT no_room CHECK (render_id <> '${render.id}') NOT VALID`,
    );
    await expect(complete(await scenario.jobOf(render.id))).rejects.toThrow('no_room');
    expect(await outcomesOf(render.id)).toEqual({});
    await make.query('ALTER TABLE webhook_events DROP CONSTRAINT no_room');
    await cancelRender(db, scenario.customerId, render.id);
    expect(await outcomesOf(render.id)).toEqual({ musetalk: 'cancelled' });
  });

  it('is written for the release before, which does not know of it, and never again for the same run', async () => {
    const { make, db } = scenario;
    const { render } = await scenario.render();
    const end = (status: string, seconds: number) =>
      make.query(
        `UPDATE engine_runs SET status = $2, error_code = NULL, progress_percent = CASE WHEN $2 = 'completed' THEN 100 ELSE 0 END,
         usage = jsonb_build_object('output_seconds', $3::float8) WHERE render_id = $1`,
        [render.id, status, seconds],
      );
    await end('completed', 4);
    // By hand; no code of any release does this.
    await end('processing', 5);
    await end('completed', 6);
    const rows = await db.prisma.runUsage.findMany();
    expect(only(rows)).toMatchObject({ outcome: 'completed', outputSeconds: 4 });
  });

  it('outlives the record, and is deleted when it is older than it is kept', async () => {
    const { db, make, customerId } = scenario;
    const { render } = await scenario.render();
    await complete(await scenario.jobOf(render.id));
    await make.query(`UPDATE renders SET expires_at = now() - interval '60 days', purged_at = now()`);
    await insert('old', customerId, new Date(Date.now() - 400 * 86_400_000).toISOString());
    const options = { storage: STORAGE, keys: KEYS };
    await purge(db, options);
    expect(await make.query('SELECT FROM engine_runs')).toEqual([]);
    expect(await db.prisma.runUsage.count()).toBe(2);
    await purge(db, { ...options, usageMonths: 14 });
    expect(await db.prisma.runUsage.count()).toBe(2);
    expect(await purge(db, { ...options, usageMonths: 12 })).toMatchObject({ deletedRows: 1, errors: [] });
    expect(only(await db.prisma.runUsage.findMany())).toMatchObject({ renderId: render.id });
  });

  it('is summed by month in UTC, customer and engine', async () => {
    const { db, customerId, make } = scenario;
    const other = await make.customer();
    await insert('a', customerId, '2026-09-30T23:59:59.999Z');
    await insert('b', customerId, '2026-10-01T00:00:00Z');
    await insert('c', customerId, '2026-10-31T23:59:59.999Z');
    await insert('d', customerId, '2026-10-15T12:00:00+14:00', 'cancelled');
    await insert('e', other, '2026-10-31T23:59:59-01:00');
    const briefly = async (search?: UsageSearch) =>
      (await sumUsage(db, search)).map(
        ({ month, customerId: whose, completed, cancelled, outputSeconds, costUsd }) => [
          month,
          whose === customerId ? 'own' : 'other',
          completed,
          cancelled,
          outputSeconds,
          costUsd,
        ],
      );
    const october = ['2026-10', 'own', 2, 1, 90, 1];
    expect(await briefly({ customerId })).toEqual([['2026-09', 'own', 1, 0, 30, 0.5], october]);
    expect(await briefly({ month: OCTOBER })).toEqual([october]);
    expect(await briefly({ customerId: other })).toEqual([['2026-11', 'other', 1, 0, 30, 0.5]]);
    expect(await briefly()).toHaveLength(3);
    expect(await listUsage(db, { month: OCTOBER })).toMatchObject([{ id: 'b' }, { id: 'd' }, { id: 'c' }]);
    expect(await listUsage(db, { month: OCTOBER, customerId: other })).toEqual([]);
  });

  it('becomes anonymous in place: the figures stay, and nothing tells whose they were', async () => {
    const { db, customerId, make } = scenario;
    const other = await make.customer();
    await insert('a', customerId, '2026-10-02T00:00:00Z');
    await insert('b', other, '2026-10-02T00:00:00Z');
    await insert('c', customerId, '2026-10-03T00:00:00Z');
    const anonymize = () => anonymizeUsage(db.prisma, customerId, 1);
    expect([await anonymize(), await anonymize(), await anonymize()]).toEqual([1, 1, 0]);
    const rows = JSON.stringify(await db.prisma.runUsage.findMany({ where: { id: { in: ['a', 'c'] } } }));
    expect(rows).not.toMatch(new RegExp(`${customerId}|ren_`));
    expect(await sumUsage(db, { month: OCTOBER })).toMatchObject([
      { customerId: other, completed: 1, outputSeconds: 30 },
      { customerId: null, customerName: null, completed: 2, outputSeconds: 60 },
    ]);
  });

  it.each([
    ['a month', 'run_usage_finished_at_idx', () => ({ month: OCTOBER })],
    [
      'a month of a customer',
      'run_usage_customer_id_finished_at_idx',
      () => ({ month: OCTOBER, customerId: 'cus_7' }),
    ],
    ['a customer', 'run_usage_customer_id_finished_at_idx', () => ({ customerId: 'cus_7' })],
  ])('of %s is read by an index', async (_, index, search) => {
    await scenario.make.query(`
      INSERT INTO run_usage (id, render_id, customer_id, engine, outcome, finished_at, output_seconds, frames)
      SELECT 'run_' || n, 'ren_' || n, 'cus_' || n % 50, 'musetalk', 'completed',
        timestamptz '2026-01-01' + n * interval '30 minutes', 4, 100
      FROM generate_series(1, 17520) AS n`);
    await scenario.make.query('ANALYZE run_usage');
    const plan = await scenario.db.prisma.$queryRaw<
      { 'QUERY PLAN': string }[]
    >`EXPLAIN ${totalsOf(search())}`;
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain(index);
    expect(text).not.toContain('Seq Scan on run_usage');
  });
});
