import { createTestDatabase, type TestDatabase } from '@lipsync/testkit';
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy';
import { createDb, type Db, transaction } from './db';
import { isDatabaseUnavailable } from './errors';

describe('a database that has gone silent on open connections', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let db: Db;
  beforeEach(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    db = createDb({
      url: url.href,
      poolMax: 2,
      publicBaseUrl: 'https://api.example.com',
      // Also applies to the new connections, which must respond in time on a busy machine.
      silenceMs: 3_000,
    });
    // Two connections in the pool, both known to work.
    await transaction(db, () => db.ping());
  });
  afterEach(async () => {
    await proxy.close();
    await db.close();
    await database.drop();
  });

  async function failureOf(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => null,
      (error: unknown) => error,
    );
  }

  it('makes nobody wait forever, counts as unavailable, and is reachable again on new connections', async () => {
    proxy.silence();
    const failures = await Promise.all([
      failureOf(db.prisma.$executeRaw`SELECT 1`),
      failureOf(transaction(db, (tx) => tx.customer.count())),
    ]);
    expect(failures.map(isDatabaseUnavailable)).toEqual([true, true]);
    expect(await db.prisma.customer.count()).toBe(0);
    expect(await transaction(db, (tx) => tx.customer.count())).toBe(0);
  });

  it('ends a transaction that was under way', async () => {
    const lost = transaction(db, async (tx) => {
      await tx.customer.create({ data: { id: 'cus_1', name: 'unheard' } });
      proxy.silence();
      await tx.customer.count();
    });
    expect(isDatabaseUnavailable(await failureOf(lost))).toBe(true);
    expect(await db.prisma.customer.count()).toBe(0);
  });
});
