import { eventually } from '@lipsync/testkit';
import { DAY_SECONDS, openScenario, type Scenario } from '../../test/scenario';
import { createPreparation } from '../inputs/preparations';
import { createUpload } from '../inputs/uploads';
import { createDb, type Db } from '../postgres/db';
import { cancelRender } from '../renders/cancel-render';
import { createRender } from '../renders/create-render';
import { getRender } from '../renders/get-render';

const REQUESTS = 10;
/** Connections that one customer may have in such transactions. */
const AT_ONCE = 2;
const LIMITS = { activeRecordsMax: 100, openUploadsMax: 100 };

describe("work that needs a customer's lock", () => {
  let scenario: Scenario;
  let small: Db;
  beforeAll(async () => {
    scenario = await openScenario();
    small = createDb({ url: scenario.database.url, poolMax: 4, publicBaseUrl: 'https://api.example.com' });
  });
  afterAll(async () => {
    await small.close();
    await scenario.close();
  });

  const upload = (db: Db, customerId: string): Promise<unknown> =>
    createUpload(db, {
      customerId,
      mediaType: 'video',
      contentType: 'video/mp4',
      sizeBytes: 10,
      ttlSeconds: 900,
      assetTtlSeconds: DAY_SECONDS,
      stagingKey: (id) => `staging/${id}`,
    });
  const prepare = (db: Db, customerId: string): Promise<unknown> =>
    createPreparation(db, {
      customerId,
      idempotency: null,
      ttlSeconds: DAY_SECONDS,
      request: { video: { url: 'https://media.example.com/a.mp4' } },
    });
  const render = (db: Db, customerId: string): Promise<unknown> =>
    createRender(db, {
      customerId,
      idempotency: null,
      ttlSeconds: DAY_SECONDS,
      request: {
        video: { url: 'https://media.example.com/a.mp4' },
        audio: { url: 'https://media.example.com/a.wav' },
        engines: ['musetalk'],
        sync_mode: 'loop',
      },
    });
  const connectionsWaiting = async (): Promise<number> => {
    const [row] = await scenario.make.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return row?.n ?? 0;
  };

  it.each([
    ['uploads', (held: string) => Array.from({ length: REQUESTS }, () => upload(small, held))],
    ['preparations', (held: string) => Array.from({ length: REQUESTS }, () => prepare(small, held))],
    ['renders', (held: string) => Array.from({ length: REQUESTS }, () => render(small, held))],
  ])('leaves connections to other customers while the lock is held elsewhere: %s', async (_, requests) => {
    const { db, customerId } = scenario;
    const held = await scenario.make.customer(LIMITS);
    const { render } = await scenario.render();
    const waiting = await db.prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT id FROM customers WHERE id = ${held} FOR UPDATE`;
        const all = Promise.allSettled(requests(held));
        await eventually(async () => expect(await connectionsWaiting()).toBe(AT_ONCE));
        expect(await getRender(small, customerId, render.id)).toMatchObject({ render: { id: render.id } });
        await upload(small, customerId);
        expect(await connectionsWaiting()).toBe(AT_ONCE);
        return { all };
      },
      { timeout: 20_000 },
    );
    const settled = await waiting.all;
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('leaves connections to other customers while it waits for a render that is locked elsewhere: cancellations', async () => {
    const { db, customerId } = scenario;
    const { render } = await scenario.render();
    const waiting = await db.prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT id FROM renders WHERE id = ${render.id} FOR UPDATE`;
        const all = Promise.all(
          Array.from({ length: REQUESTS }, () => cancelRender(small, customerId, render.id)),
        );
        await eventually(async () => expect(await connectionsWaiting()).toBe(AT_ONCE));
        await upload(small, await scenario.make.customer());
        return { all };
      },
      { timeout: 20_000 },
    );
    for (const { render: cancelled } of await waiting.all) expect(cancelled.status).toBe('cancelled');
  });

  it('is refused as unavailable, and never begun, if its turn does not come in time', async () => {
    const { db, make } = scenario;
    const held = await make.customer(LIMITS);
    const settled = await db.prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT id FROM customers WHERE id = ${held} FOR UPDATE`;
        const all = Promise.allSettled(Array.from({ length: AT_ONCE + 1 }, () => upload(small, held)));
        await eventually(async () => expect(await connectionsWaiting()).toBe(AT_ONCE));
        jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
        return { all };
      },
      { timeout: 20_000 },
    );
    const outcomes = await settled.all;
    jest.restoreAllMocks();
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'service_unavailable' } });
    expect(await make.query('SELECT FROM uploads WHERE customer_id = $1', [held])).toHaveLength(AT_ONCE);
  });
});
