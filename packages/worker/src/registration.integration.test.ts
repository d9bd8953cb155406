import { createDb, type Db, removeWorker } from '@lipsync/db';
import { createLogger } from '@lipsync/runtime';
import { untraced } from '@lipsync/telemetry';
import { createTestDatabase, eventually, parseExposition, type TestDatabase } from '@lipsync/testkit';
import { keepWorkerRow, type WorkerRowOptions } from './registration';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('the row of a worker', () => {
  let database: TestDatabase;
  let db: Db;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  /** The rows of live workers. The row of one that has left stays for a while, back-dated. */
  const rows = () =>
    db.prisma.worker.findMany({
      where: { seenAt: { gt: new Date(Date.now() - 30_000) } },
      select: { id: true, service: true, slots: true },
    });
  const expected = [{ id: 'w1', service: 'gpu-worker', slots: { musetalk: 2 } }];
  const { metrics } = untraced();
  /** Returns a function that does what a shutdown would. */
  const keep = async (here: Pick<WorkerRowOptions, 'db'> = { db }): Promise<() => Promise<void>> => {
    const closing: (() => Promise<void> | void)[] = [];
    await keepWorkerRow({
      ...here,
      logger,
      metrics,
      workerId: 'w1',
      service: 'gpu-worker',
      slots: { musetalk: 2 },
      lifecycle: { onShutdown: (_, close) => void closing.push(close) },
      heartbeatMs: 20,
    });
    return async () => {
      for (const close of closing) await close();
    };
  };

  test('exists before the worker takes jobs, and is removed once the worker has left', async () => {
    const remove = await keep();
    expect(await rows()).toEqual(expected);
    await remove();
    expect(await rows()).toEqual([]);
  });

  test('reports in metrics what it registers, and that it keeps doing so', async () => {
    const remove = await keep();
    await eventually(async () => {
      const told = parseExposition(await metrics.text());
      expect(told.value('lipsync_slots')).toBe(2);
      const turns = { loop: 'worker_row', outcome: 'completed' };
      expect(told.value('lipsync_loop_turns_total', turns)).toBeGreaterThan(0);
      expect(told.value('lipsync_loop_last_turn_timestamp_seconds')).toBeGreaterThan(1e9);
    });
    await remove();
  });

  test('does not need the database when the worker starts: it appears once the database is back', async () => {
    const late = await createTestDatabase();
    const name = new URL(late.url).pathname.slice(1);
    const accept = (yes: boolean) =>
      db.prisma.$executeRawUnsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${yes}`);
    await accept(false);
    const worker = createDb({ url: late.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
    const remove = await keep({ db: worker });
    await accept(true);
    await eventually(async () => expect(await worker.prisma.worker.count()).toBe(1));
    await remove();
    await worker.close();
    await late.drop();
  });

  test('returns with all that the worker serves after it was purged during a long silence', async () => {
    const remove = await keep();
    await removeWorker(db, 'w1');
    await eventually(async () => expect(await rows()).toEqual(expected));
    await remove();
  });
});
