import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RenderRequest } from '@lipsync/contract';
import { migrate } from '@lipsync/prisma';
import { createFactories, eventually, type Factories, startPostgres, stopPostgres } from '@lipsync/testkit';
import { openScenario, type Scenario } from '../../test/scenario';
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy';
import { createDb, type Db } from '../postgres/db';
import { isDatabaseUnavailable } from '../postgres/errors';
import { type CreatedRender, createRender } from './create-render';

const publicBaseUrl = 'https://api.example.com';
const REQUEST: RenderRequest = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { url: 'https://media.example.com/a.wav' },
  engines: ['musetalk'],
  sync_mode: 'loop',
};

function create(db: Db, customerId: string, key = 'order-1'): Promise<CreatedRender> {
  const idempotency = { key, fingerprint: 'f'.repeat(64) };
  return createRender(db, { customerId, request: REQUEST, idempotency, ttlSeconds: 3_600 });
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

async function rendersOf(make: Factories, customerId: string): Promise<string[]> {
  const sql = 'SELECT id FROM renders WHERE customer_id = $1 ORDER BY id';
  return (await make.query<{ id: string }>(sql, [customerId])).map(({ id }) => id);
}

describe('a create whose connection breaks at its commit', () => {
  let scenario: Scenario;
  let proxy: TcpProxy;
  let db: Db;
  beforeAll(async () => {
    scenario = await openScenario();
    const url = new URL(scenario.database.url);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    db = createDb({ url: url.href, poolMax: 2, publicBaseUrl });
    await db.ping();
  });
  afterAll(async () => {
    await db.close();
    await proxy.close();
    await scenario.close();
  });

  it.each([
    ['is the same one when it is asked for again, if it was committed', 'answered', true],
    ['is made when it is asked for again, if the server did not hear of the commit', 'before', false],
  ] as const)('%s', async (_name, when, isCommitted) => {
    const customerId = await scenario.make.customer();
    // With the end of the message: the isolation level of a transaction is called READ COMMITTED.
    proxy.reset('COMMIT\0', when);
    expect(isDatabaseUnavailable(await failureOf(create(db, customerId)))).toBe(true);
    const before = await rendersOf(scenario.make, customerId);

    // Through the same pool, which has replaced the lost connection.
    const again = await create(db, customerId);
    expect(again.replayed).toBe(isCommitted);
    expect(await rendersOf(scenario.make, customerId)).toEqual([again.render.id]);
    expect(before).toEqual(isCommitted ? [again.render.id] : []);
  });
});

describe('creates while Postgres crashes', () => {
  it('are kept once acknowledged, exist once per key in the end, and need no new pool', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lipsync-crash-'));
    // As root the server runs under an account of its own.
    chmodSync(directory, 0o755);
    const dataDir = join(directory, 'postgres');
    try {
      const first = await startPostgres({ dataDir });
      await migrate(first.url);
      const db = createDb({ url: first.url, poolMax: 4, publicBaseUrl });
      const make = createFactories(first.url);
      await make.worker({ musetalk: 1, media: 1 });
      const customerId = await make.customer({ activeRecordsMax: 1_000 });
      const kept = await create(db, customerId);

      const keys = Array.from({ length: 40 }, (_, index) => `crash-${index}`);
      const answered = new Map<string, string>();
      const creating = Promise.allSettled(
        keys.map(async (key) => {
          answered.set(key, (await create(db, customerId, key)).render.id);
        }),
      );
      await eventually(() => expect(answered.size).toBeGreaterThan(0));
      process.kill(first.pid, 'SIGQUIT');
      const failures: unknown[] = [];
      for (const each of await creating) if (each.status === 'rejected') failures.push(each.reason);
      expect(failures.map(isDatabaseUnavailable)).toEqual(failures.map(() => true));
      await eventually(async () => expect(await failureOf(db.ping())).not.toBeNull());

      await startPostgres({ dataDir, port: first.port });
      await eventually(() => db.ping());
      const again = await Promise.all(keys.map((key) => create(db, customerId, key)));
      const ids = again.map(({ render }) => render.id);
      for (const [key, id] of answered) expect([key, ids[keys.indexOf(key)]]).toEqual([key, id]);
      expect(await rendersOf(make, customerId)).toEqual([kept.render.id, ...ids].sort());
      await db.close();
      await make.close();
    } finally {
      await stopPostgres(dataDir);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
