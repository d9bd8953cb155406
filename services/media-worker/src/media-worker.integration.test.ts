import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  cancelRender,
  claimJob,
  createAsset,
  createCustomer,
  createDb,
  type CreatedRender,
  createRender as insertRender,
  type Db,
  type NewRender,
  publishFeature,
  registerObject,
  registerWorker,
} from '@lipsync/db';
import { createLifecycle, createLogger, type Lifecycle, loadEnv } from '@lipsync/runtime';
import { createStorage, featureKey, type Storage } from '@lipsync/storage';
import {
  createTestDatabase,
  eventually,
  type HttpsReceiver,
  makeNumberedVideo,
  makeTone,
  parseExposition,
  type RunningRedis,
  type S3Server,
  startHttpsReceiver,
  startRedis,
  startS3Server,
  TEST_ACT,
  type TestDatabase,
} from '@lipsync/testkit';
import { mediaWorkerEnvironment } from './env';
import { startMediaWorker } from './start-media-worker';

const HOST = 'media.example.test';

let folder: string;
let database: TestDatabase;
let db: Db;
let redis: RunningRedis;
let s3: S3Server;
let storage: Storage;
let origin: HttpsReceiver;
let customerId: string;
const workers: Lifecycle[] = [];
let silentDownloads = 0;

/** A body of which nothing ever comes. */
function silence(): Readable {
  silentDownloads += 1;
  return new Readable({
    read: () => undefined,
    destroy: (error, done) => {
      silentDownloads -= 1;
      done(error);
    },
  });
}

/** Limits that no test waits for: a silent download ends only when something else ends it. */
const PATIENT = { DOWNLOAD_FIRST_BYTE_TIMEOUT_SECONDS: '600', DOWNLOAD_TIMEOUT_SECONDS: '600' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'media-worker-'));
  database = await createTestDatabase();
  db = createDb({ url: database.url, poolMax: 4, publicBaseUrl: 'https://api.example.test' });
  redis = await startRedis({ dataDir: join(folder, 'redis') });
  s3 = await startS3Server();
  storage = createStorage({ ...s3, forcePathStyle: true });
  await makeNumberedVideo(join(folder, 'video.mp4'), { frames: 30 });
  await makeTone(join(folder, 'tone.mp3'), { seconds: 1 });
  const files = new Map([
    ['/video.mp4', await readFile(join(folder, 'video.mp4'))],
    ['/tone.mp3', await readFile(join(folder, 'tone.mp3'))],
  ]);
  origin = await startHttpsReceiver({
    hostnames: [HOST],
    script: ({ path }) => {
      if (path === '/silent') return { status: 200, body: silence };
      const body = files.get(path);
      return body === undefined ? { status: 404 } : { status: 200, body };
    },
  });
  await writeFile(caFile(), origin.ca);
  customerId = (await createCustomer(db, TEST_ACT, { name: 'A', sealSecret: () => new Uint8Array(1) })).id;
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((lifecycle) => lifecycle.shutdown('end of test')));
});

afterAll(async () => {
  await origin.close();
  await db.close();
  storage.close();
  await s3.close();
  await redis.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const caFile = (): string => join(folder, 'ca.pem');

/** A whole worker in this process; its lifecycle stops it as SIGTERM would. */
async function startWorker(
  name: string,
  settings: Record<string, string> = {},
  onOpened: (part: string, lifecycle: Lifecycle) => void = () => undefined,
  lines: string[] = [],
): Promise<{ port: number; lifecycle: Lifecycle; lines: string[] }> {
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'test', level: 'info', destination });
  const lifecycle = createLifecycle({ logger, process: { on: () => undefined, exit: () => undefined } });
  workers.push(lifecycle);
  const observed: Lifecycle = {
    ...lifecycle,
    onShutdown: (part, close) => {
      lifecycle.onShutdown(part, close);
      onOpened(part, lifecycle);
    },
  };
  const env = loadEnv(mediaWorkerEnvironment, {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    DATABASE_POOL_MAX: '4',
    REDIS_URL: redis.url,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    PUBLIC_BASE_URL: 'https://api.example.test',
    HEALTH_PORT: '0',
    WORK_DIR: join(folder, name),
    EGRESS_ROUTES: `${HOST}:443=${origin.address}`,
    EGRESS_CA_FILE: caFile(),
    PURGE_INTERVAL_SECONDS: '1',
    PATH: process.env['PATH'],
    FFMPEG_BIN: process.env['FFMPEG_BIN'],
    SHUTDOWN_GRACE_SECONDS: '0',
    MEDIA_SANDBOX: 'preferred',
    ...settings,
  });
  const port = await startMediaWorker({ env, logger, lifecycle: observed, workerId: name });
  return { port, lifecycle, lines };
}

const newAsset = (path = '/video.mp4', owner = customerId): ReturnType<typeof createAsset> =>
  createAsset(db, { customerId: owner, mediaType: 'video', url: `https://${HOST}${path}`, ttlSeconds: 600 });

async function createRender(request: NewRender['request']): Promise<CreatedRender> {
  const input = { customerId, request, idempotency: null, ttlSeconds: 600 };
  return insertRender(db, input);
}

const jobOf = (assetId: string) => db.prisma.job.findUniqueOrThrow({ where: { assetId } });
const assetOf = (id: string) => db.prisma.asset.findUniqueOrThrow({ where: { id } });

it('does not start where its media tools cannot be confined, unless a setting says so', async () => {
  // Nothing is found on this path, so nothing that could confine the programs named beside it.
  const settings = { PATH: folder, FFMPEG_BIN: '/bin/true', FFPROBE_BIN: '/bin/true' };
  const refused = startWorker('confined', { ...settings, MEDIA_SANDBOX: '' });
  await expect(refused).rejects.toThrow('media tools cannot be confined here');
  await startWorker('unconfined', settings);
});

it('takes the jobs that waited when it starts and those that arrive while it runs, and reports that it is ready', async () => {
  const early = await newAsset();
  const { port } = await startWorker('a');
  const late = await newAsset();
  for (const { id } of [early, late]) {
    await eventually(async () => expect(await assetOf(id)).toMatchObject({ status: 'ready' }));
  }
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
});

it('leaves no row behind, and takes no job, when it is stopped while it registers', async () => {
  const { lifecycle, lines } = await startWorker('stopped', {}, (part, stopping) => {
    if (part === 'worker row') void stopping.shutdown('test');
  });
  await lifecycle.shutdown('test');
  expect(lines.filter((line) => line.includes('could not') || line.includes('"started"'))).toEqual([]);
  // Deregistering back-dates the row.
  const there = { id: 'stopped', seenAt: { gt: new Date(Date.now() - 30_000) } };
  expect(await db.prisma.worker.findFirst({ where: there })).toBeNull();
});

it('takes no job while the store refuses it, logs that once, and stops when told to', async () => {
  const asset = await newAsset();
  const lines: string[] = [];
  let opened: Lifecycle | undefined;
  const wrong = { S3_SECRET_ACCESS_KEY: 'of another store' };
  const starting = startWorker('refused', wrong, (_, lifecycle) => (opened = lifecycle), lines);
  const refusals = () => lines.filter((line) => line.includes('refuses this worker'));
  await eventually(async () => expect(refusals()).toHaveLength(1));
  expect(refusals()[0]).toContain('ping: rejected, status 403');
  expect(await db.prisma.worker.findFirst({ where: { id: 'refused' } })).toBeNull();
  await opened?.shutdown('test');
  await starting;
  expect(lines.filter((line) => line.includes('"started"'))).toEqual([]);
  expect(await jobOf(asset.id)).toMatchObject({ status: 'queued', attempts: 0 });
});

it('waits for a database that is away when it starts, alive and not ready, and works once it is back', async () => {
  const late = await createTestDatabase();
  const accept = (yes: boolean) =>
    db.prisma.$executeRawUnsafe(
      `ALTER DATABASE "${new URL(late.url).pathname.slice(1)}" ALLOW_CONNECTIONS ${yes}`,
    );
  await accept(false);
  const { port, lifecycle, lines } = await startWorker('early', { DATABASE_URL: late.url });
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status;
  expect([await status('healthz'), await status('readyz')]).toEqual([200, 503]);
  await accept(true);
  await eventually(async () => expect(await status('readyz')).toBe(200));
  await eventually(async () => {
    const told = parseExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    expect(told.value('lipsync_live_slots', { queue: 'media' })).toBe(2);
  });
  await lifecycle.shutdown('test');
  expect(lines.filter((line) => line.includes('could not'))).toEqual([]);
  await late.drop();
});

it('exports its own counts and the backlog of the whole system while the database is there', async () => {
  const { port } = await startWorker('a');
  const asset = await newAsset();
  await eventually(async () => expect(await assetOf(asset.id)).toMatchObject({ status: 'ready' }));
  const scrape = async () => parseExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const told = await eventually(async () => {
    const metrics = await scrape();
    const labels = { queue: 'media', outcome: 'completed' };
    expect(metrics.value('lipsync_jobs_total', labels)).toBeGreaterThanOrEqual(1);
    return metrics;
  });
  const { sizeBytes } = await assetOf(asset.id);
  expect(told.value('lipsync_ingest_bytes_total')).toBeGreaterThanOrEqual(Number(sizeBytes));
  expect(told.value('lipsync_queue_wait_seconds_count', { queue: 'media' })).toBeGreaterThanOrEqual(1);
  expect(told.value('lipsync_live_slots', { queue: 'media' })).toBe(2);
  expect(told.value('lipsync_webhook_backlog', { state: 'due' })).toBe(0);
  expect(told.value('lipsync_unserved_deadline_seconds')).toBe(1800);
  const turned = { loop: 'enqueueing', outcome: 'completed' };
  expect(told.value('lipsync_loop_turns_total', turned)).toBeGreaterThan(0);
  expect(told.value('lipsync_loop_pause_seconds', { loop: 'purging' })).toBe(1);
});

it('takes over an ingest whose worker was killed in the middle, and logs in one line which worker that was', async () => {
  const asset = await newAsset();
  const { id } = await jobOf(asset.id);
  // What a killed worker leaves behind: a claim that is never renewed.
  await claimJob(db, id, { workerId: 'killed', leaseSeconds: 1 });
  const { lines } = await startWorker('a');
  await eventually(async () => expect(await assetOf(asset.id)).toMatchObject({ status: 'ready' }));
  expect(await jobOf(asset.id)).toMatchObject({ status: 'finished', attempts: 2, workerId: 'a' });
  const recovered = lines.filter((line) => line.includes('job_recovered'));
  expect(recovered.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      event: 'job_recovered',
      job_id: id,
      kind: 'ingest',
      attempt: 1,
      fence: 1,
      customer_id: customerId,
      asset_id: asset.id,
      worker_id: 'killed',
      outcome: 'requeued',
    },
  ]);
});

it('enqueues again what Redis has lost', async () => {
  const asset = await newAsset();
  const lost = new Date(Date.now() - 60_000);
  await db.prisma.job.update({ where: { assetId: asset.id }, data: { enqueuedAt: lost, enqueueSeq: 7 } });
  const { port } = await startWorker('a');
  await eventually(async () => expect(await assetOf(asset.id)).toMatchObject({ status: 'ready' }));
  expect((await jobOf(asset.id)).enqueueSeq).toBeGreaterThan(7);
  // A turn of the reconciler counts when it is over, and the job may have ended before.
  await eventually(async () => {
    const told = parseExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    expect(told.value('lipsync_reconciler_actions_total', { action: 'forgotten' })).toBeGreaterThan(0);
  });
});

describe('downloads from a server that stays silent', () => {
  it("do not keep one customer's file waiting while they hold all that another customer may hold", async () => {
    const other = await createCustomer(db, TEST_ACT, { name: 'B', sealSecret: () => new Uint8Array(1) });
    const hogs = await Promise.all(Array.from({ length: 4 }, () => newAsset('/silent')));
    const { lifecycle } = await startWorker('a', PATIENT);
    await eventually(() => expect(silentDownloads).toBe(1));
    const file = await newAsset('/video.mp4', other.id);
    await eventually(async () => expect(await assetOf(file.id)).toMatchObject({ status: 'ready' }));
    expect(silentDownloads).toBe(1);
    await lifecycle.shutdown('test');
    await db.prisma.job.deleteMany({ where: { assetId: { in: hogs.map(({ id }) => id) } } });
  });

  it('end with the render that they were for, and give up their slots', async () => {
    await registerWorker(db, { id: 'gpu', service: 'gpu-worker', slots: { musetalk: 1 } });
    const url = `https://${HOST}/silent`;
    const { render } = await createRender({
      video: { url },
      audio: { url },
      sync_mode: 'loop',
      engines: ['musetalk'],
    });
    const { lines } = await startWorker('a', { ...PATIENT, MEDIA_SLOTS: '1' });
    await eventually(() => expect(silentDownloads).toBe(1));
    await cancelRender(db, customerId, render.id);
    await eventually(() => expect(silentDownloads).toBe(0));
    const file = await newAsset();
    await eventually(async () => expect(await assetOf(file.id)).toMatchObject({ status: 'ready' }));
    const jobs = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(jobs.filter(({ event, outcome }) => event === 'job' && outcome === 'dropped')).toHaveLength(1);
  });
});

it('ingests each of many assets exactly once with two workers side by side', async () => {
  await Promise.all([startWorker('a'), startWorker('b')]);
  const assets = await Promise.all(Array.from({ length: 8 }, () => newAsset()));
  for (const { id } of assets) {
    await eventually(async () => expect(await assetOf(id)).toMatchObject({ status: 'ready' }));
    expect(await jobOf(id)).toMatchObject({ attempts: 1, status: 'finished' });
  }
});

it('deletes the cached data of a video, rows and bytes, once the last record that used it has expired', async () => {
  const { port } = await startWorker('a');
  const feature = { customerId, videoSha256: 'a'.repeat(64), name: 'track:2:analyser' };
  const content = { sha256: 'b'.repeat(64), seconds: 10, complete: true };
  const object = { ...feature, sha256: content.sha256 };
  await registerObject(db, object, 5);
  await storage.put(featureKey(object), Buffer.from('track'), { contentType: 'application/octet-stream' });
  const expiresAt = new Date(Date.now() + 1_000);
  expect(await publishFeature(db, feature, content, { expiresAt, owner: null })).toBe(true);

  await eventually(async () => expect(await storage.head(featureKey(object))).toBeNull());
  expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now());
  await eventually(async () => expect(await db.prisma.featureObject.count()).toBe(0));
  expect(await db.prisma.feature.count()).toBe(0);
  await eventually(async () => {
    const told = parseExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    expect(told.value('lipsync_purged_total', { kind: 'feature' })).toBe(1);
  });
});
