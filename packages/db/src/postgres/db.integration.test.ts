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
  beforeAll(async () => {
    database = await createTestDatabase();
    db = open();
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  const setDatabase = async (setting: string): Promise<void> => {
    const make = createFactories(database.url);
    await make.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET ${setting}`);
    await make.close();
  };

  it.each([
    ['of the database', ''],
    ['of the database, with options in its URL', '?options=-c%20search_path%3Dpublic'],
    ['of its URL', '?options=-c%20timezone%3DAmerica/Lima'],
  ])('reads and writes the same instant in any time zone %s', async (_, parameters) => {
    await setDatabase(`timezone = 'Asia/Kolkata'`);
    const elsewhere = open(parameters);
    const now = await databaseNow(elsewhere.prisma);
    expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000);
    const key = { customerId: 'cus_1', key: 'k', operation: 'o', fingerprint: 'f', resourceId: 'ren_1' };
    const expiresAt = new Date('2031-02-03T04:05:06.789Z');
    await elsewhere.prisma.idempotencyKey.create({ data: { ...key, expiresAt } });
    const [row] = await elsewhere.prisma.$queryRaw<{ at: Date; epoch: number }[]>`
      SELECT expires_at AS at, extract(epoch FROM expires_at)::float8 AS epoch FROM idempotency_keys WHERE expires_at = ${expiresAt}`;
    expect(row).toEqual({ at: expiresAt, epoch: expiresAt.getTime() / 1000 });
    await elsewhere.prisma.idempotencyKey.deleteMany();
    await elsewhere.close();
  });

  it('compiles no statements (JIT), whatever the database is set to', async () => {
    await setDatabase('jit = on');
    const elsewhere = open();
    expect((await elsewhere.pool.query('SHOW jit')).rows).toEqual([{ jit: 'off' }]);
    await elsewhere.close();
  });

  it('recovers after all of its connections were cut', async () => {
    await db.ping();
    await cutConnections(database);
    await eventually(() => db.ping());
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
