import { createHash, randomUUID } from 'node:crypto';
import {
  claimJob,
  completeAnalyze,
  completeRender,
  createAsset,
  createDb,
  createPreparation,
  createRender,
  createUpload,
  type Db,
  failJob,
  publishFeature,
  registerObject,
} from '@lipsync/db';
import { createQueues, type Queues } from '@lipsync/queue';
import { createLogger } from '@lipsync/runtime';
import { assetKey, createStorage, featureKey, outputKey, type Storage, uploadKey } from '@lipsync/storage';
import {
  createFactories,
  createTestDatabase,
  eventually,
  type Factories,
  type S3Server,
  startS3Server,
  type TestDatabase,
  testPrefix,
  testRedisUrl,
} from '@lipsync/testkit';

const TTL_SECONDS = 7 * 86_400;
const SLOTS = { media: 4, preparation: 2, musetalk: 4, latentsync: 4, highsync: 4 };
const asVideo = { contentType: 'video/mp4' };

/** Everything that an erasure reaches, the real parts: a database, a bucket with versions, Redis. */
export interface World {
  readonly database: TestDatabase;
  readonly db: Db;
  readonly make: Factories;
  readonly server: S3Server;
  readonly storage: Storage;
  readonly queues: Queues;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 8, publicBaseUrl: 'https://api.example.com' });
  const make = createFactories(database.url);
  await make.worker(SLOTS);
  const server = await startS3Server({ versioning: true });
  const storage = createStorage({ ...server, forcePathStyle: true });
  const logger = createLogger({ service: 'test', level: 'silent' });
  const queues = createQueues({ redisUrl: testRedisUrl(), logger, prefix: testPrefix() });
  await eventually(() => queues.ping());
  return {
    database,
    db,
    make,
    server,
    storage,
    queues,
    close: async () => {
      await queues.close();
      storage.close();
      await server.close();
      await make.close();
      await db.close();
      await database.drop();
    },
  };
}

/** A customer with something of every kind, finished, failed, running and waiting. */
export interface Erasable {
  readonly customerId: string;
  /** A part of every name, file name, URL, key and text that the customer chose. */
  readonly mark: string;
  readonly videoId: string;
  readonly completedId: string;
  readonly runningId: string;
}

/** `video`: the bytes of its video, which another customer may have as well. */
export async function makeErasable(world: World, video = 'a video'): Promise<Erasable> {
  const { db, make, storage, queues } = world;
  const mark = `mark-${randomUUID()}`;
  const customerId = await make.customer({ activeRecordsMax: 1_000 });
  await make.query('UPDATE customers SET name = $2 WHERE id = $1', [customerId, mark]);
  await make.apiKey(customerId);
  await make.query(`INSERT INTO webhook_secrets (id, customer_id, ciphertext) VALUES ($1, $2, '\\x00')`, [
    `sec_${mark}`,
    customerId,
  ]);
  const sha256 = createHash('sha256').update(video).digest('hex');
  const videoId = await make.readyAsset({ customerId, mediaType: 'video', sha256 });
  const audioId = await make.readyAsset({ customerId, mediaType: 'audio' });
  for (const id of [videoId, audioId]) {
    await storage.put(`assets/${id}/original`, Buffer.from(video), asVideo);
    await storage.put(assetKey(id, 'lost-attempt'), Buffer.from(mark), asVideo);
  }

  const render = async (): Promise<{ renderId: string; jobId: string; runId: string }> => {
    const created = await createRender(db, {
      customerId,
      request: {
        video: { asset_id: videoId },
        audio: { asset_id: audioId },
        engines: ['musetalk'],
        sync_mode: 'cut_off',
        webhook_url: `https://hooks.example.com/${mark}`,
      },
      idempotency: { key: `${mark}-${randomUUID()}`, fingerprint: 'f' },
      ttlSeconds: TTL_SECONDS,
      traceParent: '00-00000000000000000000000000000001-0000000000000001-01',
    });
    const runId = created.runs[0]?.id ?? '';
    const [job] = await make.query<{ id: string }>('SELECT id FROM jobs WHERE engine_run_id = $1', [runId]);
    return { renderId: created.render.id, jobId: job?.id ?? '', runId };
  };
  const claim = async (jobId: string, leaseSeconds = 30) => {
    const claimed = await claimJob(db, jobId, { workerId: 'worker', leaseSeconds });
    if (claimed === null) throw new Error('not claimed');
    return claimed;
  };

  const completed = await render();
  const lost = await claim(completed.jobId, 0);
  await storage.put(outputKey(completed.runId, lost.fence), Buffer.from(mark), asVideo);
  const lease = await claim(completed.jobId);
  const key = outputKey(completed.runId, lease.fence);
  for (const content of ['first', mark]) await storage.put(key, Buffer.from(content), asVideo);
  await completeRender(db, lease, { outputKey: key, usage: { output_seconds: 4 } });

  const running = await render();
  await claim(running.jobId);
  await storage.put(outputKey(running.runId, 1), Buffer.from(mark), asVideo);
  const waiting = await render();
  await queues.add('musetalk', { jobId: waiting.jobId, enqueueSeq: 1 });

  const prepared = await createPreparation(db, {
    customerId,
    request: { video: { asset_id: videoId }, webhook_url: `https://hooks.example.com/${mark}` },
    idempotency: { key: mark, fingerprint: 'f' },
    ttlSeconds: TTL_SECONDS,
  });
  const analysis = { version: '1', analyzerVersion: '1', frames: 1, fps: 25, width: 2, height: 2 };
  await completeAnalyze(db, await claim(await jobOf('preparation_id', prepared.preparation.id)), {
    ...analysis,
    durationSeconds: 1,
  });

  const fetched = await createAsset(db, {
    customerId,
    mediaType: 'video',
    url: `https://media.example.com/${mark}.mp4`,
    ttlSeconds: TTL_SECONDS,
  });
  const download = await claim(await jobOf('asset_id', fetched.id));
  await failJob(db, download, 'media_download_failed', `${mark} was not there`);

  const { upload } = await createUpload(db, {
    customerId,
    mediaType: 'video',
    contentType: 'video/mp4',
    sizeBytes: mark.length,
    ttlSeconds: 900,
    assetTtlSeconds: TTL_SECONDS,
    stagingKey: uploadKey,
  });
  await make.query(`UPDATE uploads SET expires_at = now() - interval '1 hour' WHERE id = $1`, [upload.id]);
  await storage.put(upload.stagingKey, Buffer.from(mark), asVideo);
  world.server.beginMultipart(upload.stagingKey);
  await storage.put(upload.stagingKey, Buffer.from(mark), asVideo);
  await storage.delete([upload.stagingKey]);

  const feature = { customerId, videoSha256: sha256, name: 'track:1' };
  const track = { customerId, videoSha256: sha256, sha256: createHash('sha256').update(mark).digest('hex') };
  await registerObject(db, track, mark.length);
  await storage.put(featureKey(track), Buffer.from(mark), asVideo);
  const expiresAt = new Date(Date.now() + TTL_SECONDS * 1000);
  const content = { sha256: track.sha256, seconds: 1, complete: true };
  await publishFeature(db, feature, content, { expiresAt, owner: null });
  return { customerId, mark, videoId, completedId: completed.renderId, runningId: running.renderId };

  async function jobOf(column: 'asset_id' | 'preparation_id', id: string): Promise<string> {
    const [job] = await make.query<{ id: string }>(`SELECT id FROM jobs WHERE ${column} = $1`, [id]);
    return job?.id ?? '';
  }
}

/** Every table there is: one that is added later is among them. */
async function tables({ make }: Pick<World, 'make'>): Promise<string[]> {
  const found = await make.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  return found.map(({ name }) => name);
}

/** The rows of all tables, as text with every column, in which this occurs: `table: row`. */
export async function rowsWith(world: Pick<World, 'make'>, ...needles: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tables(world)) {
    const rows = await world.make.query<{ text: string }>(
      `SELECT t::text AS text FROM "${table}" AS t
       WHERE EXISTS (SELECT FROM unnest($1::text[]) AS needle WHERE position(needle IN t::text) > 0)`,
      [needles],
    );
    found.push(...rows.map(({ text }) => `${table}: ${text}`));
  }
  return found.sort();
}

/** Every id, hash of a key and digest in the rows of a customer, and what it named. */
export async function identifiers(world: Pick<World, 'make'>, { customerId, mark }: Erasable) {
  const rows = await rowsWith(world, customerId, mark);
  const own = rows.flatMap((row) => row.match(/\b[a-z]{3}_[0-9A-Za-z-]{16,}\b/g) ?? []);
  const keys = await world.make.query<{ hash: string }>('SELECT hash FROM api_keys WHERE customer_id = $1', [
    customerId,
  ]);
  return [...new Set([...own, ...keys.map(({ hash }) => hash), mark])];
}
