import { GRANTS, migrate } from '@lipsync/prisma';
import { addDeliveries } from '../../test/delivery-rows';
import { MEDIA, only, openScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { findApiKey, touchApiKey } from '../customers/customers';
import { registerObject } from '../features/feature-objects';
import { beginFeature, findFeature, publishFeature } from '../features/features';
import { createAsset } from '../inputs/assets';
import { createPreparation } from '../inputs/preparations';
import { createUpload } from '../inputs/uploads';
import { claimJob, loadRenderWork } from '../jobs/claim';
import { completeIngest, completeRender } from '../jobs/complete';
import { heartbeatJob } from '../jobs/heartbeat';
import { purge } from '../maintenance/purge';
import { reconcile } from '../maintenance/reconcile';
import { readBacklog } from '../queue/backlog';
import { enqueueJobs } from '../queue/enqueue';
import { heartbeatWorker, registerWorker, removeWorker } from '../queue/workers';
import { cancelRender } from '../renders/cancel-render';
import { createRender } from '../renders/create-render';
import { getRender } from '../renders/get-render';
import { claimDeliveries } from '../webhooks/claim-deliveries';
import { getDeliveryByEvent } from '../webhooks/deliveries';
import { settleDelivery } from '../webhooks/settle-delivery';
import { createDb, type Db } from './db';

const PASSWORD = 'secret';
const CAPS = { perOrigin: 8, perCustomer: 16 };
const STORAGE = { delete: async () => undefined, list: async function* () {} };
const KEYS = { assetPrefix: () => 'a/', outputKey: () => 'o', featureKey: () => 'f' };
const ttlSeconds = 86_400;

describe("a service's role", () => {
  let scenario: Scenario;
  let granted: string[];
  const opened: Db[] = [];
  const roles = Object.keys(GRANTS);
  const nameOf = (service: string): string =>
    `${new URL(scenario.database.url).pathname.slice(1)}_${service}`;

  /** The database as this service reaches it. */
  function as(service: string): Db {
    const url = new URL(scenario.database.url);
    url.username = nameOf(service);
    url.password = PASSWORD;
    const db = createDb({ url: url.href, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
    opened.push(db);
    return db;
  }

  beforeAll(async () => {
    scenario = await openScenario();
    for (const role of roles)
      await scenario.make.query(`CREATE ROLE ${nameOf(role)} LOGIN PASSWORD '${PASSWORD}'`);
    ({ granted } = await migrate(scenario.database.url));
  });
  afterAll(async () => {
    for (const db of opened) await db.close();
    for (const role of roles) {
      await scenario.make.query(`DROP OWNED BY ${nameOf(role)}`);
      await scenario.make.query(`DROP ROLE ${nameOf(role)}`);
    }
    await scenario.close();
  });

  it('is found by its name, which begins with that of the database', () => {
    expect(granted).toEqual(roles.map(nameOf).sort());
  });

  it('lets the api authenticate, create, show and cancel', async () => {
    const { make, customerId } = scenario;
    const db = as('api');
    const [key] = await make.query<{ id: string; hash: string }>(
      `INSERT INTO api_keys (id, customer_id, hash, last_four) VALUES ('key_1', $1, 'hash', '1234') RETURNING id, hash`,
      [customerId],
    );
    expect(await findApiKey(db, key?.hash ?? '')).toMatchObject({ customer: { id: customerId } });
    await touchApiKey(db, key?.id ?? '');
    const upload = {
      mediaType: 'video',
      contentType: 'video/mp4',
      sizeBytes: 1,
      assetTtlSeconds: ttlSeconds,
    } as const;
    await createUpload(db, { ...upload, customerId, ttlSeconds, stagingKey: (id) => id });
    await createAsset(db, {
      customerId,
      mediaType: 'audio',
      url: 'https://media.example.com/a.wav',
      ttlSeconds,
    });
    const idempotency = { key: 'once', fingerprint: 'f' };
    const video = { url: 'https://media.example.com/v.mp4' };
    const audio = { url: 'https://media.example.com/a.wav' };
    await createPreparation(db, { customerId, request: { video }, idempotency, ttlSeconds });
    const request = {
      video,
      audio,
      engines: ['musetalk' as const],
      sync_mode: 'loop' as const,
      webhook_url: WEBHOOK_URL,
    };
    const { render } = await createRender(db, { customerId, request, idempotency: null, ttlSeconds });
    await enqueueJobs(db, 'media');
    expect((await getRender(db, customerId, render.id)).render.id).toBe(render.id);
    const { webhookEventId } = await cancelRender(db, customerId, render.id);
    expect(await getDeliveryByEvent(db, customerId, webhookEventId ?? '')).toMatchObject({
      delivery: { status: 'pending' },
    });
  });

  it('lets the media-worker ingest, reconcile, measure and purge', async () => {
    const { make, customerId } = scenario;
    const db = as('media_worker');
    const url = 'https://media.example.com/v.mp4';
    const asset = await createAsset(scenario.db, { customerId, mediaType: 'video', url, ttlSeconds });
    const { render } = await scenario.render({ video: { asset_id: asset.id } });
    await registerWorker(db, { id: 'media', service: 'media-worker', slots: { media: 1 } });
    await enqueueJobs(db, 'musetalk');
    const ingest = await claimJob(db, await scenario.ingestJob(asset.id), {
      workerId: 'media',
      leaseSeconds: 30,
    });
    expect(ingest !== null && (await completeIngest(db, ingest, MEDIA))).toBe(true);
    await scenario.claim(only(await scenario.jobs(render.id)).id);
    await make.query(`UPDATE jobs SET lease_until = now() - interval '1 s' WHERE status = 'running'`);
    const report = await reconcile(db, { isInQueue: async () => false, unservedSeconds: 0 });
    expect(report).toMatchObject({ requeued: 1, errors: [] });
    expect((await readBacklog(db, CAPS)).queues).not.toEqual([]);
    for (const table of [
      'renders',
      'preparations',
      'assets',
      'uploads',
      'idempotency_keys',
      'webhook_events',
    ])
      await make.query(`UPDATE ${table} SET expires_at = now() - interval '60 days'`);
    const purged = await purge(db, { storage: STORAGE, keys: KEYS });
    expect(purged).toMatchObject({ errors: [] });
    expect(purged.purged).toBeGreaterThan(0);
    expect(await purge(db, { storage: STORAGE, keys: KEYS })).toMatchObject({ errors: [] });
  });

  it('lets the gpu-worker enqueue and take a job, keep features and end its render with a webhook', async () => {
    const db = as('gpu_worker');
    const { render } = await scenario.render();
    await registerWorker(db, { id: 'gpu', service: 'gpu-worker', slots: { musetalk: 1 } });
    expect(await heartbeatWorker(db, 'gpu')).toBe(true);
    expect(await enqueueJobs(db, 'musetalk')).not.toEqual([]);
    const claim = await claimJob(db, only(await scenario.jobs(render.id)).id, {
      workerId: 'gpu',
      leaseSeconds: 30,
    });
    if (claim?.engineRunId == null) throw new Error('not claimed');
    await loadRenderWork(db, claim.engineRunId);
    const key = { customerId: scenario.customerId, videoSha256: 'a'.repeat(64), name: 'track' };
    const request = { wantedFrames: Infinity, expiresAt: new Date(Date.now() + 3_600_000) };
    expect(await beginFeature(db, key, claim, request)).toEqual({ state: 'make' });
    await registerObject(db, { ...key, sha256: 'b'.repeat(64) }, 1);
    const content = { sha256: 'b'.repeat(64), frames: 1, complete: true };
    await publishFeature(db, key, content, { expiresAt: request.expiresAt, owner: claim });
    expect(await findFeature(db, key, request)).toMatchObject({ complete: true });
    await heartbeatJob(db, claim, { leaseSeconds: 30, stage: 'inferencing', progressPercent: 50 });
    expect(await completeRender(db, claim, { outputKey: 'o', usage: {} })).toBe(true);
    expect(await scenario.events(render.id)).toMatchObject([{ type: 'render.completed', deliveries: 1 }]);
    await removeWorker(db, 'gpu');
  });

  it('lets the webhook-dispatcher claim and settle deliveries', async () => {
    const db = as('webhook_dispatcher');
    await scenario.make.query('DELETE FROM webhook_deliveries');
    const rows = { customerId: scenario.customerId, origin: 'https://hooks.example.com', count: 2 };
    await addDeliveries(scenario.make, rows);
    const { claimed } = await claimDeliveries(db, {
      ...CAPS,
      limit: 2,
      leaseSeconds: 30,
      delaysSeconds: [60],
    });
    const [first, second] = claimed;
    if (!first || !second) throw new Error('not claimed');
    const retry = { jitter: 0.5, delaysSeconds: [60] };
    expect(await settleDelivery(db, first, { kind: 'delivered', httpStatus: 200 }, retry)).toBe('delivered');
    expect(await settleDelivery(db, second, { kind: 'failed', error: 'timeout' }, retry)).toBe('pending');
  });

  it.each([
    ['gpu_worker', 'SELECT FROM webhook_secrets'],
    ['gpu_worker', 'SELECT FROM api_keys'],
    ['gpu_worker', 'SELECT name FROM customers'],
    ['gpu_worker', 'UPDATE assets SET object_key = object_key'],
    ['media_worker', 'SELECT FROM webhook_secrets'],
    ['media_worker', 'SELECT FROM api_keys'],
    ['webhook_dispatcher', 'SELECT FROM api_keys'],
    ['webhook_dispatcher', 'SELECT video_asset_id FROM renders'],
    ['webhook_dispatcher', "UPDATE webhook_events SET body = ''"],
    ['api', 'SELECT FROM webhook_secrets'],
    ['api', "INSERT INTO api_keys (id, customer_id, hash, last_four) VALUES ('k', 'c', 'h', 'l')"],
    ['api', 'UPDATE customers SET running_jobs_max = 100'],
    ['api', 'DELETE FROM renders'],
    ['scaler', 'SELECT FROM renders'],
  ])('refuses the %s: %s', async (service, statement) => {
    await expect(as(service).pool.query(statement)).rejects.toThrow('permission denied');
  });

  it.each(roles)('lets the %s create nothing and change no schema', async (service) => {
    const db = as(service);
    await expect(db.pool.query('CREATE TABLE stolen (id int)')).rejects.toThrow('permission denied');
    await expect(db.pool.query('ALTER TABLE jobs ADD COLUMN stolen int')).rejects.toThrow('must be owner');
  });
});
