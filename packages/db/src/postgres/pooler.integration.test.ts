import { connect, createServer, type Server } from 'node:net';
import { migrate, MigrationError } from '@lipsync/prisma';
import {
  createFactories,
  createTestDatabase,
  eventually,
  type Factories,
  listenOnLoopback,
  type TestDatabase,
} from '@lipsync/testkit';
import { type Db } from './db';
import { openDb } from './open-db';

type Rewrite = (bytes: Buffer) => Buffer;

/** What a pooler does to the first messages: it has settings and process ids of its own. */
const withoutJitSetting: Rewrite = (bytes) =>
  Buffer.from(bytes.toString('latin1').replace('jit=off', 'jit=on '), 'latin1');
const withOwnProcessId: Rewrite = (bytes) => {
  const key = bytes.indexOf(Buffer.from('K\0\0\0\x0c', 'latin1'));
  if (key >= 0) bytes.writeInt32BE(1, key + 5);
  return bytes;
};

describe('behind a pooler', () => {
  let database: TestDatabase;
  let make: Factories;
  let pooler: Server;
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    make = createFactories(database.url);
    const address = new URL(database.url);
    const { hostname, port } = address;
    pooler = createServer((client) => {
      const server = connect(Number(port), hostname);
      client
        .on('data', (bytes) => server.write(withoutJitSetting(bytes)))
        .on('close', () => server.destroy());
      server.on('data', (bytes) => client.write(withOwnProcessId(bytes))).on('close', () => client.destroy());
      for (const socket of [client, server]) socket.on('error', () => undefined);
    });
    address.port = String(await listenOnLoopback(pooler));
    url = address.href;
  });
  afterAll(async () => {
    pooler.close();
    await make.close();
    await database.drop();
  });

  it('nothing is migrated, which would leave a lock in a session of others; the error names the setting', async () => {
    const failure = await migrate(url).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MigrationError);
    expect(String(failure)).toContain('migrationDatabaseUrl');
    const held = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await make.query(held)).toEqual([]);
  });

  it('a service warns once of settings that do not reach its sessions, and of a clock that differs', async () => {
    const warned: [string, object][] = [];
    const env = { DATABASE_URL: url, DATABASE_POOL_MAX: 2, PUBLIC_BASE_URL: 'https://api.example.com' };
    const warn = (message: string, fields: object) => warned.push([message, fields]);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    const db: Db = openDb({ service: 'api', env, logger: { warn } });
    await db.ping();
    await eventually(async () => expect(warned).toHaveLength(2));
    now.mockRestore();
    await db.close();
    expect(warned[0]?.[1]).toEqual({ found: { jit: 'on' }, expected: { jit: 'off' } });
    expect(warned[1]?.[0]).toBe('the clock differs from that of the database');
  });
});
