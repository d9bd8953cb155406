import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutConnections, eventually, parseExposition, startRedis } from '@lipsync/testkit';
import { send } from '../test/http-client';
import { createScenario, renderRequest } from '../test/scenario';
import { CONNECTIONS, startApi, type TestApi } from '../test/start-api';

const HEALTHY = { postgres: 'ok', redis: 'ok', s3: 'ok', workers: 'ok' };

async function readiness(api: TestApi): Promise<unknown> {
  const { status, body } = await send(`${api.baseUrl}/readyz`, 'GET');
  return { status, body };
}

/** Number of key look-ups that wait for a lock. */
async function lookUpsWaiting(api: TestApi): Promise<number> {
  const rows = await api.db.prisma.$queryRaw<object[]>`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM api_keys AS key%'`;
  return rows.length;
}

describe('without Redis', () => {
  it('renders, cancellations and reads work, limits are not enforced, and jobs are enqueued once it is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'redis-'));
    const redis = await startRedis({ dataDir });
    const api = await startApi({ redisUrl: redis.url });
    const { key } = await api.newCustomer({ getPerMinute: 1, activeRecordsMax: 100 });
    await redis.stop();

    const created = await api.operations.ok('create_render', { key, json: renderRequest() });
    for (let i = 0; i < 3; i += 1) await api.operations.ok('get_render', { key, id: created.body.id });
    const cancelled = await api.operations.ok('cancel_render', { key, id: created.body.id });
    expect(cancelled.body.status).toBe('cancelled');
    expect(await readiness(api)).toEqual({
      status: 503,
      body: { status: 'unavailable', checks: { ...HEALTHY, redis: 'failed' } },
    });
    expect(JSON.stringify(api.logLines())).toContain('rate limits are off');
    const metrics = parseExposition(await api.metrics.text());
    const uncounted = { limit: 'reads', decision: 'unavailable' };
    expect(metrics.value('lipsync_rate_limit_decisions_total', uncounted)).toBe(3);
    expect(JSON.stringify(api.logLines())).toContain('health check fails');

    const back = await startRedis({ dataDir, port: redis.port });
    const scenario = createScenario(api, { key, id: '', keyId: '' });
    await eventually(() => api.queues.ping());
    const renderId = await scenario.render();
    await eventually(async () => {
      const { id } = await api.db.prisma.engineRun.findFirstOrThrow({ where: { renderId } });
      const job = await api.db.prisma.job.findUniqueOrThrow({ where: { engineRunId: id } });
      expect(await api.queues.isQueued('musetalk', job.id, job.enqueueSeq)).toBe(true);
    });
    await api.close();
    await back.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
});

describe('without S3', () => {
  it('signs uploads and outputs, and asks the client to complete later', async () => {
    const api = await startApi();
    const customer = await api.newCustomer();
    const { key } = customer;
    const scenario = createScenario(api, customer);
    const upload = await scenario.upload();
    const renderId = await scenario.completedRender();
    await api.s3.close();

    const { body } = await api.operations.ok('get_render', { key, id: renderId });
    expect(body.engines?.[0]?.output).toBeDefined();
    const json = { media_type: 'audio', content_type: 'audio/wav', size_bytes: 10 };
    await api.operations.ok('create_upload', { key, json });
    const refused = await api.operations.refused('complete_upload', { key, id: upload.id });
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(await readiness(api)).toMatchObject({
      status: 503,
      body: { checks: { ...HEALTHY, s3: 'failed' } },
    });
    await api.close();
  });
});

describe('while S3 says nothing', () => {
  it.each([
    ['HEAD of the object', (key: string) => key !== ''],
    ['HEAD of the bucket, after that of an object that is not there', (key: string) => key === ''],
  ])('a completion is answered when its deadline has passed: %s', async (_what, applies) => {
    const api = await startApi({ config: { storageWaitMs: 300 } });
    const customer = await api.newCustomer();
    const upload = await createScenario(api, customer).upload({ put: false });
    api.s3.faults.set({ heldUntil: new Promise(() => undefined), applies: ({ key }) => applies(key) });
    const refused = await api.operations.refused('complete_upload', { key: customer.key, id: upload.id });
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(refused.headers.get('retry-after')).toBe('5');
    await api.close();
  });
});

describe('without Postgres', () => {
  it('refuses with service_unavailable and Retry-After, reveals nothing else, and stays alive', async () => {
    const api = await startApi({ databaseUrl: 'postgresql://someone:secret@127.0.0.1:1/hidden' });
    const { key } = await api.newCustomer();
    const refused = await api.operations.refused('create_render', { key, json: renderRequest() });
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(refused.headers.get('retry-after')).toBe('5');
    for (const word of ['127.0.0.1', 'prisma', 'hidden'])
      expect(refused.message.toLowerCase()).not.toContain(word);
    expect((await send(`${api.baseUrl}/healthz`, 'GET')).status).toBe(200);
    expect(await readiness(api)).toMatchObject({
      status: 503,
      body: { checks: { postgres: 'failed', redis: 'ok' } },
    });
    expect(JSON.stringify(api.logLines())).not.toContain('secret');
    await api.close();
  });

  it('refuses requests that get no connection in time, while those already sent complete', async () => {
    const api = await startApi();
    const { key } = await api.newCustomer();
    const created = await api.operations.ok('create_render', { key, json: renderRequest() });
    const get = () => api.operations.attempt('get_render', { key, id: created.body.id });
    const asked: ReturnType<typeof get>[] = [];
    await api.db.prisma.$transaction(
      async (tx) => {
        await tx.$executeRaw`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`;
        while (asked.length < CONNECTIONS) asked.push(get());
        await eventually(async () => expect(await lookUpsWaiting(api)).toBe(CONNECTIONS));
        expect(await get()).toMatchObject({ status: 503, code: 'service_unavailable' });
      },
      { timeout: 20_000 },
    );
    expect(await Promise.all(asked)).toEqual(asked.map(() => null));
    await api.close();
  });

  it('recovers on its own when connections are cut under load, and leaves no create half done', async () => {
    const api = await startApi();
    const customer = await api.newCustomer({ activeRecordsMax: 1000 });
    const create = (n: number) =>
      api.operations.attempt('create_render', {
        key: customer.key,
        json: renderRequest(),
        headers: { 'Idempotency-Key': `order-${n}` },
      });
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    const cut = numbers.slice(0, 3).map(() => cutConnections(api.database));
    const [refusals] = await Promise.all([Promise.all(numbers.map(create)), ...cut]);
    expect(new Set(refusals.map((refusal) => refusal?.code ?? 'service_unavailable'))).toEqual(
      new Set(['service_unavailable']),
    );

    for (const n of numbers) await eventually(async () => expect(await create(n)).toBeNull());
    const renders = await api.db.prisma.render.findMany({ where: { customerId: customer.id } });
    expect(renders).toHaveLength(numbers.length);
    expect(await api.db.prisma.engineRun.count({ where: { customerId: customer.id } })).toBe(numbers.length);
    await api.close();
  });
});

describe('an unexpected failure', () => {
  it('is 503 internal_error without a hint of its cause, which is in the log', async () => {
    const api = await startApi();
    const { key } = await api.newCustomer();
    await api.db.prisma.$executeRaw`ALTER TABLE assets RENAME COLUMN stage TO phase`;
    const json = { url: 'https://media.example.com/a.mp4', media_type: 'video' };
    const headers = { 'X-Request-Id': 'unforeseen' };
    const refused = await api.operations.refused('create_asset', { key, json, headers });
    expect(refused).toMatchObject({ status: 503, code: 'internal_error' });
    expect(refused.message).not.toMatch(/column|stage|prisma/i);

    const [line] = api.logLines().filter((entry) => entry['request_id'] === 'unforeseen');
    expect(line).toMatchObject({ level: 'error', status: 503, error_code: 'internal_error' });
    expect(JSON.stringify(line?.['error'])).toContain('does not exist');
    await api.close();
  });
});
