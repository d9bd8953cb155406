import { GRANTS, migrate } from '@lipsync/prisma';
import { MEDIA, openScenario, type Scenario } from '../../test/scenario';
import { listAudit, recordAct } from '../audit/audit-log';
import { claimJob } from '../jobs/claim';
import { completeIngest, completeRender } from '../jobs/complete';
import { purge } from '../maintenance/purge';
import { reconcile } from '../maintenance/reconcile';
import { readBacklog } from '../queue/backlog';
import { enqueueJobs } from '../queue/enqueue';
import { registerWorker } from '../queue/workers';
import { cancelRender } from '../renders/cancel-render';
import { anonymizeUsage } from '../usage/run-usage';
import { createDb, type Db, transaction } from './db';

const PASSWORD = 'secret';
const CAPS = { perOrigin: 8, perCustomer: 16 };
const STORAGE = { delete: async () => undefined, list: async function* () {} };
const KEYS = { assetPrefix: () => 'a/', outputKey: () => 'o', featureKey: () => 'f' };

/** That each role suffices for its service is shown by the end-to-end tests, whose stack runs under these roles. */
describe("a service's role", () => {
  let scenario: Scenario;
  let granted: string[];
  const opened: Db[] = [];
  const roles = Object.keys(GRANTS);
  const nameOf = (service: string): string =>
    `${new URL(scenario.database.url).pathname.slice(1)}_${service}`;

  /** The database as this service reaches it. */
  function as(service: string): Db {
    const url = new URL(scenario.database.url);
    url.username = nameOf(service);
    url.password = PASSWORD;
    const db = createDb({ url: url.href, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
    opened.push(db);
    return db;
  }

  beforeAll(async () => {
    scenario = await openScenario();
    for (const role of roles)
      await scenario.make.query(`CREATE ROLE ${nameOf(role)} LOGIN PASSWORD '${PASSWORD}'`);
    ({ granted } = await migrate(scenario.database.url));
  });
  afterAll(async () => {
    for (const db of opened) await db.close();
    for (const role of roles) {
      await scenario.make.query(`DROP OWNED BY ${nameOf(role)}`);
      await scenario.make.query(`DROP ROLE ${nameOf(role)}`);
    }
    await scenario.close();
  });

  it('is found by its name, which begins with that of the database', () => {
    expect(granted).toEqual(roles.map(nameOf).sort());
  });

  it('lets the media-worker ingest, reconcile, measure and purge', async () => {
    const { make } = scenario;
    const db = as('media_worker');
    const asset = await scenario.asset();
    const { render } = await scenario.render({ video: { asset_id: asset.id } });
    await registerWorker(db, { id: 'media', service: 'media-worker', slots: { media: 1 } });
    await enqueueJobs(db, 'musetalk');
    const ingest = await claimJob(db, await scenario.ingestJob(asset.id), {
      workerId: 'media',
      leaseSeconds: 30,
    });
    expect(ingest !== null && (await completeIngest(db, ingest, MEDIA))).toBe(true);
    await scenario.claim(await scenario.jobOf(render.id));
    await make.query(`UPDATE jobs SET lease_until = now() - interval '1 s' WHERE status = 'running'`);
    const report = await reconcile(db, { isInQueue: async () => false, unservedSeconds: 0 });
    expect(report).toMatchObject({ requeued: 1, errors: [] });
    expect((await readBacklog(db, CAPS)).queues).not.toEqual([]);
    for (const table of ['renders', 'assets', 'webhook_events'])
      await make.query(`UPDATE ${table} SET expires_at = now() - interval '60 days'`);
    const purged = await purge(db, { storage: STORAGE, keys: KEYS });
    expect(purged).toMatchObject({ errors: [] });
    expect(purged.purged).toBeGreaterThan(0);
    expect(await purge(db, { storage: STORAGE, keys: KEYS })).toMatchObject({ errors: [] });
  });

  it('lets the gpu-worker and the api end runs, whose usage they may neither write nor change', async () => {
    const { make, customerId } = scenario;
    await make.query('DELETE FROM run_usage');
    const [first, second] = [await scenario.render(), await scenario.render()];
    const claim = await scenario.claim(await scenario.jobOf(first.render.id));
    const result = { outputKey: 'outputs/x', usage: { output_seconds: 4 } };
    expect(await completeRender(as('gpu_worker'), claim, result)).toBe(true);
    await cancelRender(as('api'), customerId, second.render.id);
    expect(await make.query('SELECT outcome, output_seconds FROM run_usage ORDER BY finished_at')).toEqual([
      { outcome: 'completed', output_seconds: 4 },
      { outcome: 'cancelled', output_seconds: null },
    ]);
  });

  it('lets no temporary table of a service stand in for that of usage', async () => {
    const { make } = scenario;
    await make.query('DELETE FROM run_usage');
    const { render } = await scenario.render();
    const session = await as('gpu_worker').pool.connect();
    await session.query('CREATE TEMPORARY TABLE run_usage (id text)');
    await session.query(`UPDATE engine_runs SET status = 'cancelled' WHERE render_id = $1`, [render.id]);
    session.release();
    expect(await make.query('SELECT outcome FROM public.run_usage')).toEqual([{ outcome: 'cancelled' }]);
  });

  it('lets the media-worker delete usage that is older than a year, and no other', async () => {
    const { make } = scenario;
    await make.query('DELETE FROM run_usage');
    await make.query(`
      INSERT INTO run_usage (id, render_id, customer_id, engine, outcome, finished_at)
      SELECT n, n, 'c', 'musetalk', 'completed', now() - n * interval '1 month' FROM unnest(ARRAY[1, 11, 13, 200]) AS n`);
    const db = as('media_worker');
    expect(await purge(db, { storage: STORAGE, keys: KEYS, usageMonths: 120 })).toMatchObject({ errors: [] });
    expect(await make.query('SELECT id FROM run_usage ORDER BY id')).toHaveLength(3);
    await db.pool.query('DELETE FROM run_usage');
    expect(await make.query('SELECT id FROM run_usage ORDER BY id')).toEqual([{ id: '1' }, { id: '11' }]);
  });

  it('lets the admin make usage anonymous, and change it in no other way', async () => {
    const { make, customerId } = scenario;
    await make.query('DELETE FROM run_usage');
    const { render } = await scenario.render();
    await cancelRender(scenario.db, customerId, render.id);
    const db = as('admin');
    for (const change of [`customer_id = 'c'`, `customer_id = 'c', render_id = 'r'`])
      await expect(db.pool.query(`UPDATE run_usage SET ${change}`)).rejects.toThrow('row-level security');
    await db.pool.query('DELETE FROM run_usage');
    expect(await anonymizeUsage(db.prisma, customerId, 10)).toBe(1);
    expect(await make.query('SELECT customer_id, render_id, outcome FROM run_usage')).toEqual([
      { customer_id: null, render_id: null, outcome: 'cancelled' },
    ]);
  });

  it.each(roles)('lets the %s neither add usage nor change its figures', async (service) => {
    const { pool } = as(service);
    for (const statement of [
      `INSERT INTO run_usage (id, engine, outcome, finished_at) VALUES ('r', 'musetalk', 'completed', now())`,
      'UPDATE run_usage SET cost_usd = 0',
      'TRUNCATE run_usage',
    ])
      await expect(pool.query(statement)).rejects.toThrow('permission denied');
  });

  it.each([
    ['gpu_worker', 'SELECT FROM webhook_secrets'],
    ['gpu_worker', 'SELECT FROM api_keys'],
    ['gpu_worker', 'SELECT name FROM customers'],
    ['gpu_worker', 'UPDATE assets SET object_key = object_key'],
    ['media_worker', 'SELECT FROM webhook_secrets'],
    ['media_worker', 'SELECT FROM api_keys'],
    ['webhook_dispatcher', 'SELECT FROM api_keys'],
    ['webhook_dispatcher', 'SELECT video_asset_id FROM renders'],
    ['webhook_dispatcher', "UPDATE webhook_events SET body = ''"],
    ['api', 'SELECT FROM webhook_secrets'],
    ['api', "INSERT INTO api_keys (id, customer_id, hash, last_four) VALUES ('k', 'c', 'h', 'l')"],
    ['api', 'UPDATE customers SET running_jobs_max = 100'],
    ['api', 'DELETE FROM renders'],
    ['scaler', 'SELECT FROM renders'],
    ['admin', "UPDATE audit_log SET actor = 'somebody else'"],
    ['admin', 'DELETE FROM audit_log'],
    ['admin', 'TRUNCATE audit_log'],
    ['admin', "INSERT INTO audit_log (id, actor, command, at) VALUES ('a', 'a', 'a', now())"],
    ['admin', "INSERT INTO audit_log (id, actor, command, login) VALUES ('a', 'a', 'a', 'somebody')"],
    ['api', 'DELETE FROM run_usage'],
    ['gpu_worker', 'DELETE FROM run_usage'],
    ['gpu_worker', 'SELECT FROM run_usage'],
  ])('refuses the %s: %s', async (service, statement) => {
    await expect(as(service).pool.query(statement)).rejects.toThrow('permission denied');
  });

  it.each(roles.filter((service) => service !== 'admin'))(
    'keeps the %s from the audit log',
    async (service) => {
      for (const statement of [
        'SELECT FROM audit_log',
        "INSERT INTO audit_log (id, actor, command) VALUES ('a', 'a', 'a')",
        "UPDATE audit_log SET actor = 'somebody else'",
        'DELETE FROM audit_log',
        'TRUNCATE audit_log',
      ])
        await expect(as(service).pool.query(statement)).rejects.toThrow('permission denied');
    },
  );

  it('lets admin work on every other table, and add to the audit log, which notes its login', async () => {
    const tables = await scenario.make.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
    );
    expect(Object.keys(GRANTS['admin'] ?? {}).sort()).toEqual(tables.map(({ name }) => name).sort());
    const db = as('admin');
    await transaction(db, (tx) => recordAct(db, tx, { actor: 'ada', command: 'customers limits' }));
    expect(await listAudit(db, { sinceSeconds: 60 })).toMatchObject([{ login: nameOf('admin') }]);
  });

  it.each(roles)('lets the %s create nothing and change no schema', async (service) => {
    const db = as(service);
    await expect(db.pool.query('CREATE TABLE stolen (id int)')).rejects.toThrow('permission denied');
    await expect(db.pool.query('ALTER TABLE jobs ADD COLUMN stolen int')).rejects.toThrow('must be owner');
  });
});
