import { eventually } from '@lipsync/testkit';
import { MEDIA, only, openScenario, type Scenario } from '../../test/scenario';
import { referInput } from '../inputs/assets';
import { completeUpload } from '../inputs/uploads';
import { completeIngest, completeRender } from '../jobs/complete';
import { failJob } from '../jobs/fail';
import { databaseNow, secondsAfter, transaction } from '../postgres/db';
import { expireUpload } from './overdue';
import { purge, type PurgeOptions, type PurgeReport } from './purge';

const TABLES = ['renders', 'engine_runs', 'assets', 'jobs', 'webhook_events', 'webhook_deliveries'];

describe('purge', () => {
  let scenario: Scenario;
  let deleted: string[];
  /** The keys of storage objects besides those that the rows refer to. */
  let stored: string[];
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(async () => {
    await scenario.empty();
    deleted = [];
    stored = [];
  });
  afterAll(() => scenario.close());

  const storage: PurgeOptions['storage'] = {
    delete: async (keys) => void deleted.push(...keys),
    list: async function* (prefix) {
      yield* stored.filter((key) => key.startsWith(prefix));
    },
  };

  function run(change: Partial<PurgeOptions> = {}): Promise<PurgeReport> {
    return purge(scenario.db, {
      storage,
      keys: {
        assetPrefix: (assetId) => `assets/${assetId}/`,
        outputKey: (runId, fence) => `outputs/${runId}/${fence}/video.mp4`,
        featureKey: ({ customerId, videoSha256, sha256 }) =>
          `features/${customerId}/${videoSha256}/${sha256}`,
      },
      ...change,
    });
  }

  async function expireAll(ago: string): Promise<void> {
    for (const table of ['renders', 'preparations', 'assets', 'uploads', 'webhook_events'])
      await scenario.make.query(`UPDATE ${table} SET expires_at = now() - $1::interval`, [ago]);
  }

  async function rows(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of TABLES) counts[table] = (await scenario.make.query(`SELECT FROM ${table}`)).length;
    return counts;
  }

  /** A render completed at its second attempt. */
  async function completedRender(): Promise<{ runId: string; assetIds: string[] }> {
    const { render, runs } = await scenario.render();
    const jobId = await scenario.jobOf(render.id);
    await scenario.claim(jobId);
    await scenario.expireLease(jobId);
    const lease = await scenario.claim(jobId);
    const runId = only(runs).id;
    await completeRender(scenario.db, lease, { outputKey: `outputs/${runId}/2/video.mp4`, usage: {} });
    return { runId, assetIds: [render.videoAssetId, render.audioAssetId] };
  }

  it('leaves alone what has not expired', async () => {
    await completedRender();
    expect(await run()).toEqual({ purged: 0, deletedRows: 0, errors: [], more: false });
    expect(deleted).toEqual([]);
  });

  it('deletes the objects of what expired, including those of lost attempts, and keeps the rows', async () => {
    const { runId, assetIds } = await completedRender();
    await expireAll('16 minutes');
    expect(await run()).toMatchObject({ purged: 3, errors: [] });
    expect(deleted).toEqual(
      expect.arrayContaining([1, 2].map((fence) => `outputs/${runId}/${fence}/video.mp4`)),
    );
    expect(deleted).toEqual(expect.arrayContaining(assetIds.map((id) => `assets/${id}/original`)));
    expect(await rows()).toMatchObject({ renders: 1, assets: 2, webhook_events: 1 });
    deleted = [];
    expect(await run()).toMatchObject({ purged: 0 });
    expect(deleted).toEqual([]);
  });

  it('keeps an output while a URL signed just before its record expired is valid', async () => {
    const { runId, assetIds } = await completedRender();
    await expireAll('14 minutes');
    expect(await run()).toMatchObject({ purged: 2, errors: [] });
    expect(deleted.toSorted()).toEqual(assetIds.map((id) => `assets/${id}/original`).toSorted());
    await expireAll('16 minutes');
    expect(await run()).toMatchObject({ purged: 1, errors: [] });
    expect(deleted).toContain(`outputs/${runId}/2/video.mp4`);
  });

  it('keeps the bytes of assets that an open render uses', async () => {
    const { render } = await scenario.render();
    await expireAll('16 minutes');
    expect((await run()).purged).toBe(0);
    await completeRender(scenario.db, await scenario.claim(await scenario.jobOf(render.id)), {
      outputKey: 'o',
      usage: {},
    });
    expect((await run()).purged).toBe(3);
  });

  it('marks nothing as purged if its objects could not be deleted, and goes on with the others', async () => {
    const { assetIds } = await completedRender();
    await expireAll('16 minutes');
    const failing = async (keys: readonly string[]): Promise<void> => {
      if (keys.some((key) => key.includes(assetIds[0] ?? ''))) throw new Error('storage is away');
    };
    const report = await run({ storage: { ...storage, delete: failing } });
    expect(report).toMatchObject({ purged: 2, errors: [new Error('storage is away')] });
    expect((await run()).purged).toBe(1);
    expect(deleted).toEqual([`assets/${assetIds[0]}/original`]);
  });

  it('deletes what lost attempts at an asset left behind, whether the asset became ready or failed', async () => {
    const { db } = scenario;
    const ids: string[] = [];
    for (const end of ['ready', 'failed']) {
      const { id } = await scenario.asset();
      const lease = await scenario.claim(await scenario.ingestJob(id));
      const objectKey = `assets/${id}/accepted`;
      if (end === 'ready') await completeIngest(db, lease, { ...MEDIA, objectKey });
      else await failJob(db, lease, 'worker_lost');
      ids.push(id);
      stored.push(`assets/${id}/of-a-killed-worker`);
    }
    await expireAll('16 minutes');
    expect(await run()).toMatchObject({ purged: 2, errors: [] });
    expect(deleted.toSorted()).toEqual([`assets/${ids[0]}/accepted`, ...stored].toSorted());
    const kept = 'object_key IS NOT NULL OR stream IS NOT NULL';
    expect(await scenario.make.query(`SELECT FROM assets WHERE id = ANY($1) AND (${kept})`, [ids])).toEqual(
      [],
    );
  });

  it('keeps the bytes of an asset that a render began to use at the moment of its expiry', async () => {
    const { db, customerId, make } = scenario;
    const assetId = await make.readyAsset({ customerId, mediaType: 'video' });
    const expiresAt = secondsAfter(await databaseNow(db.prisma), -1);
    await db.prisma.asset.update({ where: { id: assetId }, data: { expiresAt } });
    const { render } = await scenario.render();
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    let purged: Promise<PurgeReport> | undefined;
    await transaction(db, async (tx) => {
      const input = { customerId, mediaType: 'video', input: { asset_id: assetId } } as const;
      await referInput(tx, input, secondsAfter(expiresAt, -1));
      await tx.render.update({ where: { id: render.id }, data: { videoAssetId: assetId } });
      purged = run();
      await eventually(async () => expect(await make.query(waiting)).toHaveLength(1));
    });
    expect(await purged).toMatchObject({ purged: 0, errors: [] });
    expect(deleted).toEqual([]);
  });

  it('ends in time if storage is slow, and goes on in the next call', async () => {
    await completedRender();
    await expireAll('16 minutes');
    expect((await run({ budgetMs: 0 })).purged).toBe(1);
    expect((await run({ budgetMs: 0 })).purged).toBe(1);
    expect((await run()).purged).toBe(1);
  });

  it('begins nothing further once it is told to stop, and goes on in the next call', async () => {
    await completedRender();
    await expireAll('16 minutes');
    const stop = new AbortController();
    const { signal: stopping } = stop;
    expect((await run({ stopping, onPurged: () => stop.abort() })).purged).toBe(1);
    expect((await run({ stopping })).purged).toBe(0);
    expect((await run()).purged).toBe(2);
  });

  it('reports when there is more to delete, so that a large backlog is worked off without a pause', async () => {
    for (let i = 0; i < 3; i += 1) await scenario.render();
    await scenario.make.query(
      `UPDATE renders SET status = 'cancelled', stage = 'cancelled', completed_at = now()`,
    );
    await expireAll('1 hour');
    expect(await run({ limit: 2 })).toMatchObject({ more: true });
    let rounds = 1;
    while ((await run({ limit: 2 })).more) rounds += 1;
    expect(rounds).toBeLessThan(10);
    expect(await scenario.make.query('SELECT FROM renders WHERE purged_at IS NULL')).toEqual([]);
    const failing = { ...storage, delete: () => Promise.reject(new Error('away')) };
    await completedRender();
    await expireAll('1 hour');
    expect(await run({ limit: 1, storage: failing })).toMatchObject({ purged: 0, more: false });
  });

  it('forgets everything about a resource when its time as a tombstone is over', async () => {
    await completedRender();
    await expireAll('29 days');
    await run();
    expect(await rows()).toMatchObject({ renders: 1, jobs: 1 });
    await expireAll('31 days');
    expect((await run()).errors).toEqual([]);
    expect(await rows()).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])));
  });

  it('forgets a flood of tombstones in several calls', async () => {
    for (let i = 0; i < 3; i += 1) await completedRender();
    await expireAll('31 days');
    await run();
    // Two renders, and two of their six assets; the last one has four assets left.
    expect(await run({ limit: 2 })).toMatchObject({ more: true });
    expect(await rows()).toMatchObject({ renders: 1, assets: 4 });
    expect(await run({ limit: 2 })).toMatchObject({ more: true });
    expect(await run({ limit: 2 })).toMatchObject({ more: true });
    expect(await run({ limit: 2 })).toMatchObject({ deletedRows: 0, more: false });
  });

  it('deletes the staged bytes of an upload once nobody can write or read them', async () => {
    const { db, customerId } = scenario;
    const { upload, asset } = await scenario.upload();
    await completeUpload(db, customerId, upload.id, async () => ({ sizeBytes: 1234, etag: 'e' }));
    await scenario.make.query(`UPDATE uploads SET expires_at = now() - interval '16 minutes'`);
    expect((await run()).purged).toBe(0);
    await completeIngest(db, await scenario.claim(await scenario.ingestJob(asset.id)), MEDIA);
    expect((await run()).purged).toBe(1);
    expect(deleted).toEqual([`uploads/${upload.id}`]);
    expect((await run()).purged).toBe(0);
  });

  it.each(['completed', 'abandoned'])(
    'deletes what a PUT staged late for a %s upload together with its asset',
    async (end) => {
      const { db, customerId } = scenario;
      const { upload, asset } = await scenario.upload();
      if (end === 'completed') {
        await completeUpload(db, customerId, upload.id, async () => ({ sizeBytes: 1234, etag: 'e' }));
        await completeIngest(db, await scenario.claim(await scenario.ingestJob(asset.id)), MEDIA);
      } else await expireUpload(db, upload.id);
      await scenario.make.query(`UPDATE uploads SET expires_at = now() - interval '16 minutes'`);
      expect((await run()).purged).toBe(1);
      deleted = [];
      await scenario.make.query(`UPDATE assets SET expires_at = now() - interval '1 second'`);
      expect(await run()).toMatchObject({ purged: 1, errors: [] });
      expect(deleted).toContain(`uploads/${upload.id}`);
    },
  );

  describe('if a part of it fails', () => {
    /** Makes the search for features and for unreferenced objects fail. */
    const breakFeatures = () => scenario.make.query('ALTER TABLE features RENAME TO features_away');
    afterEach(() => scenario.make.query('ALTER TABLE features_away RENAME TO features'));

    it('does everything else, and reports the failure', async () => {
      await completedRender();
      await expireAll('31 days');
      await run();
      await completedRender();
      await scenario.make.query(
        `UPDATE renders SET expires_at = now() - interval '16 minutes' WHERE purged_at IS NULL`,
      );
      await breakFeatures();
      const report = await run();
      expect(report).toMatchObject({ purged: 1, errors: [expect.any(Error), expect.any(Error)] });
      expect(await rows()).toMatchObject({ renders: 1, engine_runs: 1, assets: 2 });
    });

    it('begins nothing more once that took long, so that a call ends in time if the database hangs', async () => {
      await completedRender();
      await expireAll('16 minutes');
      await breakFeatures();
      expect(await run({ budgetMs: -1 })).toMatchObject({ purged: 0, errors: [expect.any(Error)] });
      expect(await run()).toMatchObject({ purged: 3 });
    });
  });

  it('forgets silent workers, and floods of expired features and idempotency keys in several calls', async () => {
    const { db, make, customerId } = scenario;
    await make.query(
      `INSERT INTO features (customer_id, video_sha256, name, sha256, seconds, expires_at)
       SELECT $1, repeat('a', 64), 'feature ' || i, repeat('b', 64), 1, now() - interval '1 second'
       FROM generate_series(1, 3) i`,
      [customerId],
    );
    const key = { customerId, operation: 'create_render', fingerprint: 'f', resourceId: 'ren_1' };
    await db.prisma.idempotencyKey.createMany({
      data: ['a', 'b', 'c'].map((name) => ({ ...key, key: name, expiresAt: new Date(0) })),
    });
    await make.query(`UPDATE workers SET seen_at = now() - interval '2 days'`);
    expect(await run({ limit: 2 })).toMatchObject({ deletedRows: 5, more: true });
    expect(await run({ limit: 2 })).toMatchObject({ deletedRows: 2, more: false });
  });
});
