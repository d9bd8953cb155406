import { GRANTS, migrate } from '@lipsync/prisma';
import { MEDIA, openScenario, type Scenario } from '../../test/scenario';
import { listAudit, recordAct } from '../audit/audit-log';
import { claimJob } from '../jobs/claim';
import { completeIngest } from '../jobs/complete';
import { purge } from '../maintenance/purge';
import { reconcile } from '../maintenance/reconcile';
import { readBacklog } from '../queue/backlog';
import { enqueueJobs } from '../queue/enqueue';
import { registerWorker } from '../queue/workers';
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
