import { createServer } from 'node:net';
import { createTestDatabase, cutConnections, listenOnLoopback, type TestDatabase } from '@lipsync/testkit';
import { startTcpProxy } from '../../test/tcp-proxy';
import { findApiKey } from '../customers/api-keys';
import { createDb, type Db } from './db';
import { isDatabaseUnavailable } from './errors';

const publicBaseUrl = 'https://api.example.com';

/** One protocol message from the server: its type, its length and its content. */
function message(type: string, content: string | Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', 'I');
const SHUTTING_DOWN = message(
  'E',
  'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
);

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('did not fail');
}

describe('isDatabaseUnavailable', () => {
  let database: TestDatabase;
  let db: Db;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 2, publicBaseUrl });
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  it('recognizes a server that refuses connections, in every kind of call', async () => {
    const down = createDb({ url: 'postgresql://user:secret@127.0.0.1:1/none', poolMax: 2, publicBaseUrl });
    const calls = [
      () => down.ping(),
      () => down.prisma.customer.findFirst(),
      () => findApiKey(down, 'hash'),
      () => down.prisma.$transaction(async (tx) => tx.customer.findFirst()),
    ];
    for (const call of calls) expect(isDatabaseUnavailable(await failureOf(call))).toBe(true);
    await down.close();
  });

  it('recognizes a server that accepts a connection and stays silent', async () => {
    const silent = createServer();
    const port = await listenOnLoopback(silent);
    const hanging = createDb({
      url: `postgresql://user:secret@127.0.0.1:${port}/none`,
      poolMax: 2,
      publicBaseUrl,
    });
    expect(isDatabaseUnavailable(await failureOf(() => hanging.prisma.customer.findFirst()))).toBe(true);
    await hanging.close();
    silent.close();
  });

  it('recognizes a server that closes a connection as soon as it is made, and survives it', async () => {
    const leaving = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])));
    });
    const port = await listenOnLoopback(leaving);
    const cut = createDb({
      url: `postgresql://user:secret@127.0.0.1:${port}/none`,
      poolMax: 2,
      publicBaseUrl,
    });
    const inTransaction = () => cut.prisma.$transaction(async (tx) => tx.customer.findFirst());
    expect(isDatabaseUnavailable(await failureOf(inTransaction))).toBe(true);
    await cut.close();
    leaving.close();
  });

  it('recognizes connections that are cut during a statement, in a transaction and before its commit', async () => {
    await db.ping();
    const asleep = failureOf(() => db.prisma.$queryRaw`SELECT pg_sleep(60)::text`);
    await cutUntilSettled(asleep);
    expect(isDatabaseUnavailable(await asleep)).toBe(true);

    const inTransaction = failureOf(() =>
      db.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        await cutConnections(database);
        await tx.customer.findFirst();
      }),
    );
    expect(isDatabaseUnavailable(await inTransaction)).toBe(true);

    const beforeCommit = failureOf(() =>
      db.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        await cutConnections(database);
      }),
    );
    expect(isDatabaseUnavailable(await beforeCommit)).toBe(true);
  });

  it('recognizes a server that shuts down instead of answering a commit', async () => {
    const url = new URL(database.url);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const cut = createDb({ url: url.href, poolMax: 1, publicBaseUrl });
    proxy.cutShort('COMMIT', SHUTTING_DOWN);
    const failure = await failureOf(() => cut.prisma.$transaction((tx) => tx.customer.count()));
    expect(isDatabaseUnavailable(failure)).toBe(true);
    await cut.close();
    await proxy.close();
  });

  it.each([
    ['that is read-only, such as a former primary after a failover', 'read_only_sql_transaction'],
    ['whose disk is full', 'disk_full'],
    ['on which a lock was not available in time', 'lock_not_available'],
    ['that ended a deadlock', 'deadlock_detected'],
  ])('recognizes a server %s, in every kind of call', async (_, condition) => {
    const raise = `DO $$ BEGIN RAISE 'not now' USING ERRCODE = '${condition}'; END $$`;
    const calls = [
      () => db.pool.query(raise),
      () => db.prisma.$executeRawUnsafe(raise),
      () => db.prisma.$transaction((tx) => tx.$executeRawUnsafe(raise)),
    ];
    for (const call of calls) expect(isDatabaseUnavailable(await failureOf(call))).toBe(true);
  });

  it('does not mistake errors in a statement, in data or in code for unavailability', async () => {
    const customer = { id: 'cus_1', name: 'one' };
    await db.prisma.customer.create({ data: customer });
    const failures = [
      await failureOf(() => db.prisma.$queryRaw`SELECT nothing FROM nowhere`),
      await failureOf(() => db.prisma.customer.create({ data: customer })),
      new TypeError('undefined is not a function'),
      'a string',
    ];
    for (const failure of failures) expect(isDatabaseUnavailable(failure)).toBe(false);
  });

  /** The statement may not have reached the server yet at the first cut. */
  async function cutUntilSettled(pending: Promise<unknown>): Promise<void> {
    let isSettled = false;
    void pending.then(() => (isSettled = true));
    while (!isSettled) await cutConnections(database);
  }
});
