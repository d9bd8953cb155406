import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';
import { Client } from 'pg';
import { openScenario, type Scenario } from '../../test/scenario';
import { deleteExpiredFeatures, findUnnamedObjects } from '../features/feature-objects';
import { createUpload } from '../inputs/uploads';
import { expireUpload, findStaleUploads } from './overdue';
import { deleteTombstones } from './purge';
import {
  findPurgeableAssets,
  findPurgeablePreparations,
  findPurgeableRenders,
  findPurgeableUploads,
} from './purgeable';

describe('indexes', () => {
  let database: TestDatabase;
  let make: Factories;
  beforeAll(async () => {
    database = await createTestDatabase();
    make = createFactories(database.url);
  });
  afterAll(async () => {
    await make.close();
    await database.drop();
  });

  const indexesOf = async (table: string): Promise<string[]> => {
    const rows = await make.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE tablename = '${table}'`,
    );
    return rows.map(({ indexdef }) => indexdef);
  };

  it('exclude the leases of jobs, so that renewing a lease updates no index', async () => {
    const definitions = await indexesOf('jobs');
    expect(definitions.length).toBeGreaterThan(0);
    expect(definitions.filter((definition) => definition.includes('lease_until'))).toEqual([]);
  });

  it('of records by state begin with the customer, so that no statement about one record prefers them to its id', async () => {
    for (const table of ['renders', 'preparations']) {
      const byState = (await indexesOf(table)).filter((definition) => definition.includes('status'));
      expect(byState).toEqual([expect.stringMatching(/\(customer_id, status\)$/)]);
    }
  });

  it("are used to find a customer's open records and overdue ones, even if statistics show nothing open", async () => {
    await make.query(`
      INSERT INTO renders (id, customer_id, status, stage, progress_percent, video_asset_id, audio_asset_id, sync_mode,
        completed_at, expires_at)
      SELECT 'ended' || i, 'customer' || i % 20, 'completed', 'completed', 100, 'v' || i, 'a' || i, 'loop', now(), now()
      FROM generate_series(1, 20000) AS i`);
    await make.query('VACUUM ANALYZE renders');
    await make.query(`
      INSERT INTO renders (id, customer_id, status, stage, video_asset_id, audio_asset_id, sync_mode, expires_at)
      SELECT 'open' || i, 'customer' || i % 20, 'accepted', 'queued', 'v' || i, 'a' || i, 'loop', now()
      FROM generate_series(1, 1000) AS i`);
    const planOf = async (statement: string): Promise<string> => {
      const plan = await make.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS false) ${statement}`);
      return plan.map((row) => row['QUERY PLAN']).join('\n');
    };
    const isOpen = `status IN ('accepted', 'processing')`;
    expect(
      await planOf(`SELECT count(*) FROM renders WHERE customer_id = 'customer7' AND ${isOpen}`),
    ).toContain('renders_customer_id_status_idx');
    expect(await planOf(`UPDATE renders SET stage = 'x' WHERE id = 'open7' AND ${isOpen}`)).toContain(
      'renders_pkey',
    );
    expect(
      await planOf(
        `SELECT id FROM renders WHERE completed_at IS NULL AND created_at < now() - interval '1 day'`,
      ),
    ).toContain('renders_uncompleted_idx');
  });

  it('allow one job for each engine run, preparation and asset, and any number without one', async () => {
    const insert = (kind: string, subject: string, id: string) =>
      make.query(`INSERT INTO jobs (id, kind, queue, customer_id, ${subject}, status)
        VALUES ('${id}', '${kind}', 'media', 'customer', 'subject', 'queued')`);
    for (const [kind, subject] of [
      ['render', 'engine_run_id'],
      ['analyze', 'preparation_id'],
      ['ingest', 'asset_id'],
    ] as const) {
      await insert(kind, subject, `first ${kind}`);
      await expect(insert(kind, subject, `second ${kind}`)).rejects.toThrow('duplicate key');
    }
  });
});

describe('indexes of what is due', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
    const { make } = scenario;
    // Leftovers of weeks, and features in use. The statistics know nothing else, as after a quiet night.
    const rows = `FROM generate_series(1, 20000) AS i`;
    const purged = `now() - i * interval '2 minutes', now()`;
    await make.query(`
      INSERT INTO assets (id, customer_id, media_type, status, stage, expires_at, purged_at)
      SELECT 'asset' || i, 'customer' || i % 20, 'video', 'ready', 'ready', ${purged} ${rows}`);
    await make.query(`
      INSERT INTO uploads (id, customer_id, asset_id, status, content_type, size_bytes, staging_key, completed_at,
        expires_at, purged_at)
      SELECT 'upload' || i, 'customer' || i % 20, 'asset' || i, 'completed', 'video/mp4', 1, 'u' || i, now(),
        ${purged} ${rows}`);
    await make.query(`
      INSERT INTO renders (id, customer_id, status, stage, progress_percent, video_asset_id, audio_asset_id, sync_mode,
        completed_at, expires_at, purged_at)
      SELECT 'render' || i, 'customer' || i % 20, 'completed', 'completed', 100, 'asset' || i, 'asset' || i, 'loop',
        now(), ${purged} ${rows}`);
    await make.query(`
      INSERT INTO preparations (id, customer_id, status, stage, progress_percent, video_asset_id, completed_at,
        expires_at, purged_at)
      SELECT 'preparation' || i, 'customer' || i % 20, 'completed', 'completed', 100, 'asset' || i, now(),
        ${purged} ${rows}`);
    await make.query(`
      INSERT INTO features (customer_id, video_sha256, name, sha256, frames, expires_at)
      SELECT 'customer' || i % 20, 'video' || i, 'track', 'content' || i, 1, now() + i * interval '1 minute' ${rows}`);
    await make.query(`
      INSERT INTO feature_objects (customer_id, video_sha256, sha256, size_bytes, kept_until)
      SELECT customer_id, video_sha256, sha256, 1, expires_at FROM features`);
    await make.query('VACUUM ANALYZE');
    await make.query(`
      INSERT INTO uploads (id, customer_id, asset_id, status, content_type, size_bytes, staging_key, expires_at)
      SELECT 'waiting' || i, 'customer' || i % 20, 'expected' || i, 'awaiting_upload', 'video/mp4', 1, 'w' || i,
        now() + interval '15 minutes'
      FROM generate_series(1, 1000) AS i`);
  });
  afterAll(() => scenario.close());

  /** The plans of all statements that `work` sends. */
  async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
    const sent = jest.spyOn(Client.prototype, 'query');
    await work();
    const statements = sent.mock.calls.map(([statement]: unknown[]) => statement).filter(isStatement);
    sent.mockRestore();
    const plans = [];
    for (const { text, values } of statements) {
      if (!/^\s*(SELECT|WITH|UPDATE|DELETE)/.test(text)) continue;
      const plan = await scenario.make.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS false) ${text}`,
        values,
      );
      plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  }

  const startsBy = (index: string, condition: string): unknown =>
    expect.stringMatching(new RegExp(`Index Scan using ${index} on .*\n *Index Cond: \\(${condition}`));

  const keys = { outputKey: () => '', assetPrefix: () => '', featureKey: () => '' };

  it.each<[string, string, (scenario: Scenario) => Promise<unknown>]>([
    ['uploads that nobody completed', 'uploads_waiting_idx', ({ db }) => findStaleUploads(db, 200)],
    ['staged bytes', 'uploads_unpurged_idx', ({ db }) => findPurgeableUploads(db, 200)],
    ['bytes of assets', 'assets_unpurged_idx', ({ db }) => findPurgeableAssets(db, keys, 200)],
    ['bytes of renders', 'renders_unpurged_idx', ({ db }) => findPurgeableRenders(db, keys, 200)],
    ['preparations', 'preparations_unpurged_idx', ({ db }) => findPurgeablePreparations(db, 200)],
    ['features', 'features_expires_at_idx', ({ db }) => deleteExpiredFeatures(db, 200)],
  ])('find expired %s without reading those that are purged or in use', async (_, index, find) => {
    expect(await plansOf(() => find(scenario))).toEqual([startsBy(index, 'expires_at <')]);
  });

  it('find unreferenced objects without reading those in use', async () => {
    const [plan] = await plansOf(() => findUnnamedObjects(scenario.db, 200));
    expect(plan).toEqual(startsBy('feature_objects_kept_until_idx', 'kept_until <'));
  });

  it('find tombstones without reading rows that still have their bytes', async () => {
    const plans = await plansOf(() => deleteTombstones(scenario.db, 86_400 * 365, 200));
    for (const index of ['renders_purged_idx', 'preparations_purged_idx', 'assets_purged_idx'])
      expect(plans).toContainEqual(startsBy(index, 'expires_at <'));
  });

  it('of waiting uploads serve only the search for stale ones, so that one upload is found by its id and those of a customer are counted without all others', async () => {
    const { db, customerId } = scenario;
    const stagingKey = (id: string): string => id;
    const request = { customerId, mediaType: 'video', contentType: 'video/mp4', sizeBytes: 1 } as const;
    const lifetimes = { ttlSeconds: 900, assetTtlSeconds: 86_400 };
    const created = await plansOf(() => createUpload(db, { ...request, ...lifetimes, stagingKey }));
    expect(created).toContainEqual(expect.stringContaining('uploads_customer_id_status_idx'));
    const { id } = await db.prisma.upload.findFirstOrThrow({ where: { customerId } });
    const expired = await plansOf(() => expireUpload(db, id));
    expect(expired).toContainEqual(startsBy('uploads_pkey', 'id ='));
    expect([...created, ...expired].filter((plan) => plan.includes('uploads_waiting_idx'))).toEqual([]);
  });
});

interface Statement {
  text: string;
  values: unknown[];
}

function isStatement(query: unknown): query is Statement {
  return typeof query === 'object' && query !== null && 'text' in query && 'values' in query;
}
