import {
  createFactories,
  createTestDatabase,
  cutConnections,
  eventually,
  type TestDatabase,
} from '@lipsync/testkit';
import { heartbeatWorker, liveEngines, registerWorker, removeWorker } from '../queue/workers';
import { createDb, databaseNow, type Db } from './db';

describe('createDb', () => {
  let database: TestDatabase;
  let db: Db;
  const open = (parameters = ''): Db =>
    createDb({ url: database.url + parameters, poolMax: 3, publicBaseUrl: 'https://api.example.com' });
  beforeEach(async () => {
    database = await createTestDatabase();
    db = open();
  });
  afterEach(async () => {
    await db.close();
    await database.drop();
  });

  it.each([
    ['of the database', ''],
    ['of the database, with options in its URL', '?options=-c%20search_path%3Dpublic'],
    ['of its URL', '?options=-c%20timezone%3DAmerica/Lima'],
  ])('reads and writes the same instant in any time zone %s', async (_, parameters) => {
    const make = createFactories(database.url);
    const name = new URL(database.url).pathname.slice(1);
    await make.query(`ALTER DATABASE ${name} SET timezone = 'Asia/Kolkata'`);
    await make.close();
    const elsewhere = open(parameters);
    const now = await databaseNow(elsewhere.prisma);
    expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000);
    const key = {
      customerId: 'cus_1',
      key: 'k',
      operation: 'create_render',
      fingerprint: 'f',
      resourceId: 'ren_1',
    };
    const expiresAt = new Date('2031-02-03T04:05:06.789Z');
    await elsewhere.prisma.idempotencyKey.create({ data: { ...key, expiresAt } });
    const [row] = await elsewhere.prisma.$queryRaw<{ at: Date; epoch: number }[]>`
      SELECT expires_at AS at, extract(epoch FROM expires_at)::float8 AS epoch FROM idempotency_keys WHERE expires_at = ${expiresAt}`;
    expect(row).toEqual({ at: expiresAt, epoch: expiresAt.getTime() / 1000 });
    await elsewhere.close();
  });

  it('compiles no statements (JIT), whatever the database is set to', async () => {
    const make = createFactories(database.url);
    await make.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET jit = on`);
    await make.close();
    const { rows } = await db.pool.query('SHOW jit');
    expect(rows).toEqual([{ jit: 'off' }]);
  });

  it('says which service a connection belongs to, unless the URL names something else', async () => {
    const nameOf = async (parameters: string): Promise<unknown> => {
      const named = createDb({
        url: database.url + parameters,
        poolMax: 1,
        publicBaseUrl: 'https://api.example.com',
        applicationName: 'media-worker',
      });
      const { rows } = await named.pool.query<{ application_name: string }>('SHOW application_name');
      await named.close();
      return rows[0]?.application_name;
    };
    expect(await nameOf('')).toBe('media-worker');
    expect(await nameOf('?application_name=mine')).toBe('mine');
  });

  it('recovers after all of its connections were cut', async () => {
    await db.ping();
    await cutConnections(database);
    await eventually(() => db.ping());
    expect(await db.prisma.customer.count()).toBe(0);
  });

  it('rolls back a transaction that fails', async () => {
    const failing = db.prisma.$transaction(async (tx) => {
      await tx.customer.create({ data: { id: 'cus_1', name: 'gone' } });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await db.prisma.customer.count()).toBe(0);
  });

  it('offers the engines of workers that were seen in the last minute', async () => {
    expect([...(await liveEngines(db.prisma))]).toEqual([]);
    await registerWorker(db, { id: 'w1', service: 'gpu-worker', slots: { musetalk: 1, preparation: 1 } });
    await registerWorker(db, { id: 'w2', service: 'gpu-worker', slots: { highsync: 0 } });
    expect([...(await liveEngines(db.prisma))]).toEqual(['musetalk']);
    await registerWorker(db, { id: 'w1', service: 'gpu-worker', slots: { latentsync: 1 } });
    expect([...(await liveEngines(db.prisma))]).toEqual(['latentsync']);
    await db.prisma.$executeRaw`UPDATE workers SET seen_at = now() - interval '61 seconds'`;
    expect([...(await liveEngines(db.prisma))]).toEqual([]);
    expect(await heartbeatWorker(db, 'w1')).toBe(false);
    await registerWorker(db, { id: 'w1', service: 'gpu-worker', slots: { latentsync: 1 } });
    expect(await heartbeatWorker(db, 'w1')).toBe(true);
    expect([...(await liveEngines(db.prisma))]).toEqual(['latentsync']);
    await removeWorker(db, 'w1');
    expect(await heartbeatWorker(db, 'w1')).toBe(false);
    expect([...(await liveEngines(db.prisma))]).toEqual([]);
  });
});
