import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RenderRequest } from '@lipsync/contract';
import { migrate } from '@lipsync/prisma';
import { createFactories, eventually, type Factories, startPostgres, stopPostgres } from '@lipsync/testkit';
import { openScenario, type Scenario } from '../../test/scenario';
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy';
import { isDatabaseUnavailable } from '../postgres/database-unavailable';
import { createDb, type Db } from '../postgres/db';
import { type CreatedRender, createRenders } from './create-render';

const publicBaseUrl = 'https://api.example.com';
const REQUEST: RenderRequest = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { url: 'https://media.example.com/a.wav' },
  engines: ['musetalk'],
  sync_mode: 'loop',
};
const KEYS = ['order-1', 'order-2', 'order-3'];

/** Creates one render for each key, all in one batch. */
async function create(db: Db, customerId: string, keys = KEYS): Promise<CreatedRender[]> {
  const inputs = keys.map((key) => {
    const idempotency = { key, fingerprint: 'f'.repeat(64) };
    return { customerId, request: REQUEST, idempotency, ttlSeconds: 3_600 };
  });
  return Promise.all(await createRenders(db, inputs));
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

describe('creates whose connection breaks', () => {
  let scenario: Scenario;
  let proxy: TcpProxy;
  let db: Db;
  beforeEach(async () => {
    scenario = await openScenario();
    const url = new URL(scenario.database.url);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    db = createDb({ url: url.href, poolMax: 2, publicBaseUrl });
    await db.ping();
  });
  afterEach(async () => {
    await db.close();
    await proxy.close();
    await scenario.close();
  });

  it.each([
    ['while they are committed are the same ones when they are asked for again', 'answered', true],
    ['before the server hears of them are made when they are asked for again', 'before', false],
  ] as const)('%s', async (_name, when, isCommitted) => {
    const { customerId } = scenario;
    proxy.reset('create_renders', when);
    expect(isDatabaseUnavailable(await failureOf(create(db, customerId)))).toBe(true);
    const before = await rendersOf(scenario.make, customerId);
    expect(before).toHaveLength(isCommitted ? KEYS.length : 0);

    // Through the same pool, which has replaced the lost connections.
    const again = await create(db, customerId);
    expect(again.map(({ replayed }) => replayed)).toEqual(KEYS.map(() => isCommitted));
    const after = await rendersOf(scenario.make, customerId);
    expect(again.map(({ render }) => render.id).sort()).toEqual(after);
    expect(after).toEqual(isCommitted ? before : after);
    expect(after).toHaveLength(KEYS.length);
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
          for (const { render } of await create(db, customerId, [key])) answered.set(key, render.id);
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
      const again = await Promise.all(keys.map((key) => create(db, customerId, [key])));
      const ids = again.flat().map(({ render }) => render.id);
      for (const [key, id] of answered) expect([key, ids[keys.indexOf(key)]]).toEqual([key, id]);
      expect(await rendersOf(make, customerId)).toEqual(
        [...kept.map(({ render }) => render.id), ...ids].sort(),
      );
      await db.close();
      await make.close();
    } finally {
      await stopPostgres(dataDir);
      rmSync(directory, { recursive: true, force: true });
    }
  }, 90_000);
});
