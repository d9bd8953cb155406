import { type Engine, type RenderRequest } from '@lipsync/contract';
import { createDb, createPreparation, createRender, type Db, migrate, registerWorker } from '@lipsync/db';
import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';
import { EXAMPLES } from './rendered';

/** What a scaled object asks for, and how many pods an answer means. */
interface Trigger {
  readonly query: string;
  readonly target: number;
}

const scaledObjects = (EXAMPLES.find(([name]) => name === 'large')?.[1] ?? []).filter(
  ({ kind }) => kind === 'ScaledObject',
);
const triggersOf = (name: string): { depth: Trigger; age: Trigger } => {
  const object = scaledObjects.find(({ metadata }) => metadata.name === name);
  const triggers = object?.spec['triggers'] as {
    name: string;
    metadata: { query: string; targetQueryValue: string };
  }[];
  const trigger = (wanted: string): Trigger => {
    const found = triggers.find((each) => each.name === wanted)?.metadata;
    if (found === undefined) throw new Error(`${name} has no trigger ${wanted}`);
    return { query: found.query, target: Number(found.targetQueryValue) };
  };
  return { depth: trigger('depth'), age: trigger('age') };
};
const MUSETALK = triggersOf('lipsync-gpu-musetalk');
const HIGHSYNC = triggersOf('lipsync-gpu-highsync');

describe('what the scalers ask Postgres', () => {
  let database: TestDatabase;
  let db: Db;
  let make: Factories;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
    make = createFactories(database.url);
  });
  afterEach(async () => {
    await make.close();
    await db.close();
    await database.drop();
  });

  const answer = async ({ query }: Trigger, asker = make): Promise<number> => {
    const [row] = await asker.query<Record<string, unknown>>(query);
    const [value] = Object.values(row ?? {});
    // Anything but a number, a NULL above all, is an error to KEDA.
    if (typeof value !== 'number') throw new Error(`answered ${String(value)}`);
    return value;
  };
  /** As an HPA reckons with an average value. */
  const pods = async (trigger: Trigger): Promise<number> =>
    Math.ceil((await answer(trigger)) / trigger.target);

  async function renders(count: number, engine: Engine, customerId: string): Promise<void> {
    for (let i = 0; i < count; i++) {
      const video = { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) };
      const audio = { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) };
      await create(customerId, { video, audio, engines: [engine], sync_mode: 'cut_off' });
    }
  }
  const create = (customerId: string, request: RenderRequest): Promise<unknown> =>
    createRender(db, {
      customerId,
      request,
      idempotency: null,
      ttlSeconds: 3600,
      enginesOnDemand: ['musetalk', 'latentsync', 'highsync'],
    });
  const run = (count: number, queue: string): Promise<unknown> =>
    make.query(
      `UPDATE jobs SET status = 'running', worker_id = 'w', lease_until = now() + interval '1 minute'
       WHERE id IN (SELECT id FROM jobs WHERE queue = $1 AND status = 'queued' LIMIT $2)`,
      [queue, count],
    );
  const wait = (time: string): Promise<unknown> =>
    make.query('UPDATE jobs SET available_at = available_at - $1::interval', [time]);
  const customer = (runningJobsMax = 100): Promise<string> =>
    make.customer({ activeRecordsMax: 1000, runningJobsMax });

  it('is answered to the role to which the migration gives its rights, and is nothing where there is no work', async () => {
    const url = new URL(database.url);
    const role = `${url.pathname.slice(1)}_scaler`;
    [url.username, url.password] = [role, role];
    const scaler = createFactories(url.toString());
    await make.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    try {
      expect(await migrate(database.url)).toMatchObject({ granted: [role] });
      for (const { depth, age } of scaledObjects.map(({ metadata }) => triggersOf(metadata.name)))
        expect([await answer(depth, scaler), await answer(age, scaler)]).toEqual([0, 0]);
      await expect(scaler.query('SELECT FROM webhook_secrets')).rejects.toThrow('permission denied');
    } finally {
      await scaler.close();
      await make.query(`DROP OWNED BY ${role}`);
      await make.query(`DROP ROLE ${role}`);
    }
  });

  it('starts a pool for a single job of its engine, and no other pool', async () => {
    await renders(1, 'musetalk', await customer());
    expect(await pods(MUSETALK.depth)).toBe(1);
    expect(await pods(HIGHSYNC.depth)).toBe(0);
  });

  it('starts a pool for a single preparation', async () => {
    const customerId = await customer();
    const video = { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) };
    await createPreparation(db, { customerId, request: { video }, idempotency: null, ttlSeconds: 3600 });
    expect(await pods(MUSETALK.depth)).toBe(1);
    expect(await pods(HIGHSYNC.depth)).toBe(0);
  });

  it('asks for no pod on behalf of what waits for its inputs, or for its next attempt', async () => {
    const customerId = await customer();
    const fetched = { url: 'https://media.example.com/a.mp4' };
    await create(customerId, { video: fetched, audio: fetched, engines: ['musetalk'], sync_mode: 'loop' });
    const ready = { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) };
    await create(customerId, { video: fetched, audio: ready, engines: ['musetalk'], sync_mode: 'loop' });
    await createPreparation(db, {
      customerId,
      request: { video: fetched },
      idempotency: null,
      ttlSeconds: 3600,
    });
    expect(await answer(MUSETALK.depth)).toBe(0);
    await renders(3, 'musetalk', customerId);
    await make.query(`UPDATE jobs SET available_at = now() + interval '1 minute' WHERE status = 'queued'`);
    expect(await answer(MUSETALK.depth)).toBe(0);
  });

  it('keeps as many pods as jobs that run occupy, and more for those that wait', async () => {
    // Two slots a pod, six waiting jobs for each further one.
    await renders(12, 'musetalk', await customer());
    expect(await pods(MUSETALK.depth)).toBe(2);
    await run(4, 'musetalk');
    expect(await pods(MUSETALK.depth)).toBe(Math.ceil(4 / 2 + 8 / 6));
    await make.query(`DELETE FROM jobs WHERE status = 'queued'`);
    expect(await pods(MUSETALK.depth)).toBe(2);
    await make.query(`DELETE FROM jobs WHERE id IN (SELECT id FROM jobs LIMIT 3)`);
    expect(await pods(MUSETALK.depth)).toBe(1);
  });

  it('asks for no pod on behalf of a customer who may run no more', async () => {
    await renders(10, 'musetalk', await customer(2));
    expect(await answer(MUSETALK.depth)).toBe(2);
    await run(2, 'musetalk');
    expect(await pods(MUSETALK.depth)).toBe(1);
    await wait('1 hour');
    await registerWorker(db, { id: 'w', service: 'gpu-worker', slots: { musetalk: 2 } });
    await make.query(`UPDATE workers SET started_at = now() - interval '2 hours'`);
    expect(await answer(MUSETALK.age)).toBe(0);
  });

  it('starts a pool also for a customer who may run no more elsewhere, or its jobs would end unserved', async () => {
    const customerId = await customer(2);
    await renders(6, 'highsync', customerId);
    await run(2, 'highsync');
    await renders(9, 'musetalk', customerId);
    expect(await answer(MUSETALK.depth)).toBe(1);
    expect(await pods(HIGHSYNC.depth)).toBe(2);
  });

  it('knows what a customer may run who has no limit of its own', async () => {
    const id = await make.customer({ activeRecordsMax: 1000 });
    await renders(DEFAULT_CUSTOMER_LIMITS.runningJobsMax + 3, 'musetalk', id);
    expect(await answer(MUSETALK.depth)).toBe(DEFAULT_CUSTOMER_LIMITS.runningJobsMax);
  });

  it('counts how long the oldest job has waited while a worker for it was there', async () => {
    await renders(1, 'highsync', await customer());
    await wait('20 minutes');
    // A pod that still starts is no reason to start another.
    expect(await answer(HIGHSYNC.age)).toBe(0);
    await registerWorker(db, { id: 'other', service: 'gpu-worker', slots: { musetalk: 1 } });
    expect(await answer(HIGHSYNC.age)).toBe(0);
    await registerWorker(db, { id: 'w', service: 'gpu-worker', slots: { highsync: 1 } });
    expect(await answer(HIGHSYNC.age)).toBeLessThan(60);
    await make.query(`UPDATE workers SET started_at = now() - interval '1 hour'`);
    expect(await pods(HIGHSYNC.age)).toBe(Math.ceil(1200 / HIGHSYNC.age.target));
    await run(1, 'highsync');
    expect(await answer(HIGHSYNC.age)).toBe(0);
  });

  it('scales ingests in the same way', async () => {
    const { depth, age } = triggersOf('lipsync-media-worker');
    const customerId = await customer();
    for (let i = 0; i < 7; i++)
      await create(customerId, {
        video: { url: 'https://media.example.com/a.mp4' },
        audio: { url: 'https://media.example.com/a.wav' },
        engines: ['musetalk'],
        sync_mode: 'loop',
      });
    expect(await answer(depth)).toBe(14);
    await run(4, 'media');
    // Four slots a pod: the four that run are worth as much as twelve that wait.
    expect(await answer(depth)).toBe(10 + 12);
    await wait('2 minutes');
    expect(await answer(age)).toBeGreaterThanOrEqual(120);
  });
});
