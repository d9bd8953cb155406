import { type RenderRequest } from '@lipsync/contract';
import { codeOf, DAY_SECONDS, only, openScenario, type Scenario } from '../../test/scenario';
import { createPreparation } from '../inputs/preparations';
import { type CreatedRender, createRender } from './create-render';

const KEY = { key: 'order-1', fingerprint: 'f'.repeat(64) };
const URLS: RenderRequest = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { url: 'https://media.example.com/a.wav' },
  engines: ['musetalk', 'highsync'],
  sync_mode: 'loop',
};

describe('createRender', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  function create(
    customerId: string,
    request: RenderRequest,
    idempotency: { key: string; fingerprint: string } | null = null,
  ): Promise<CreatedRender> {
    return createRender(scenario.db, { customerId, request, idempotency, ttlSeconds: 7 * DAY_SECONDS });
  }

  async function counts(customerId: string): Promise<Record<string, number>> {
    const tables = ['renders', 'engine_runs', 'assets', 'jobs', 'idempotency_keys'];
    const entries = tables.map(async (table) => {
      const sql = `SELECT count(*)::int AS n FROM ${table} WHERE customer_id = $1`;
      return [table, only(await scenario.make.query<{ n: number }>(sql, [customerId])).n] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  it('creates one resource for many identical concurrent requests, and returns it for all of them', async () => {
    const customerId = await scenario.make.customer();
    const created = await Promise.all(Array.from({ length: 20 }, () => create(customerId, URLS, KEY)));
    expect(new Set(created.map(({ render }) => render.id)).size).toBe(1);
    expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await counts(customerId)).toEqual({
      renders: 1,
      engine_runs: 2,
      assets: 2,
      jobs: 4,
      idempotency_keys: 1,
    });
  });

  it('binds a key only if it succeeds, and leaves nothing behind otherwise', async () => {
    const customerId = await scenario.make.customer();
    const request: RenderRequest = { ...URLS, audio: { asset_id: 'ast_unknown' } };
    expect(await codeOf(create(customerId, request, KEY))).toBe('asset_not_found');
    expect(await counts(customerId)).toEqual({
      renders: 0,
      engine_runs: 0,
      assets: 0,
      jobs: 0,
      idempotency_keys: 0,
    });
    expect((await create(customerId, URLS, KEY)).replayed).toBe(false);
  });

  it('reports that a key is in use if the first request does not end', async () => {
    const customerId = await scenario.make.customer();
    const { prisma } = scenario.db;
    const blocked = await prisma.$transaction(
      async (tx) => {
        const key = {
          ...KEY,
          operation: 'create_render',
          resourceId: 'ren_1',
          customerId,
          expiresAt: new Date(),
        };
        await tx.idempotencyKey.create({ data: key });
        return codeOf(create(customerId, URLS, KEY));
      },
      { timeout: 20_000 },
    );
    expect(blocked).toBe('idempotency_in_progress');
  });

  it('never lets concurrent requests exceed the limit of active records', async () => {
    const customerId = await scenario.make.customer({ activeRecordsMax: 3 });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => codeOf(create(customerId, URLS))));
    expect(outcomes.filter((code) => code === null)).toHaveLength(3);
    expect(outcomes.filter((code) => code === 'concurrency_limit_exceeded')).toHaveLength(5);
    const request = {
      customerId,
      request: { video: URLS.video },
      idempotency: null,
      ttlSeconds: DAY_SECONDS,
    };
    expect(await codeOf(createPreparation(scenario.db, request))).toBe('concurrency_limit_exceeded');
  });
});
