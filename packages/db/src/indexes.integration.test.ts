import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';

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

  it('know nothing of leases of jobs, so that renewing one writes to none of them', async () => {
    const definitions = await indexesOf('jobs');
    expect(definitions.length).toBeGreaterThan(0);
    expect(definitions.filter((definition) => definition.includes('lease_until'))).toEqual([]);
  });

  it('of records by state are those of a customer alone, so that no statement about one record can prefer them to its id', async () => {
    for (const table of ['renders', 'preparations']) {
      const byState = (await indexesOf(table)).filter((definition) => definition.includes('status'));
      expect(byState).toEqual([expect.stringMatching(/\(customer_id, status\)$/)]);
    }
  });

  it('find what a customer has open, and what is overdue, though statistics know of nothing open', async () => {
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

  it('allow one job for each engine run, preparation and asset, and any number about none of them', async () => {
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
