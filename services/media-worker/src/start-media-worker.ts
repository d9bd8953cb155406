import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDb, type Db } from '@lipsync/db';
import { resolveBinaries } from '@lipsync/media';
import { createConsumer, createQueues } from '@lipsync/queue';
import { createEgress, createHealthServer, type Lifecycle, type Logger } from '@lipsync/runtime';
import { createStorage, type Storage } from '@lipsync/storage';
import { consumerFetches } from './consumer-health';
import { type MediaWorkerEnv } from './env';
import { createIngestRunner, type IngestRunner } from './ingest/ingest-runner';
import { createJobFolders } from './ingest/job-folder';
import { admitAll } from './loops/admission';
import { createPeriodicLoop, type PeriodicLoop } from './loops/periodic-loop';
import { purgeOnce } from './loops/purging';
import { reconcileOnce } from './loops/reconciliation';
import { keepWorkerRow } from './worker-row';

const ADMISSION_EVERY_MS = 500;
const RECONCILE_EVERY_MS = 1_000;
/** A loop that has not come round for so long hangs; the process is better started anew. */
const STUCK_AFTER_MS = 120_000;

/** Wires and starts the worker; what it opens is closed by `lifecycle`. Resolves to the health server's port. */
export async function startMediaWorker(options: {
  env: MediaWorkerEnv;
  logger: Logger;
  lifecycle: Lifecycle;
  workerId: string;
}): Promise<number> {
  const { env, logger, lifecycle, workerId } = options;
  const redisUrl = env.REDIS_URL;
  const { db, storage } = openStores(env, logger, lifecycle);
  const queues = createQueues({ redisUrl, logger });
  lifecycle.onShutdown('queues', () => queues.close());
  const runIngest = await createRunner(env, { db, storage, logger, workerId });

  const loop = (name: string, everyMs: number, turn: () => Promise<void>): PeriodicLoop => {
    const made = createPeriodicLoop({ name, everyMs, turn, logger });
    lifecycle.onShutdown(name, () => made.stop());
    return made;
  };
  const admission = loop('admission', ADMISSION_EVERY_MS, () => admitAll(db, queues, logger));
  const reconciliation = loop('reconciliation', RECONCILE_EVERY_MS, async () => {
    if (await reconcileOnce(db, queues, logger)) admission.wake();
  });
  const purging = loop('purging', env.PURGE_INTERVAL_SECONDS * 1000, () => purgeOnce(db, storage, logger));
  const loops = [admission, reconciliation, purging];

  const consumer = createConsumer({
    ...{ redisUrl, queue: 'media', concurrency: env.MEDIA_SLOTS, logger },
    process: async (jobId, preempted) => {
      await runIngest(jobId, preempted);
      // Renders may have become complete, and a slot is free.
      admission.wake();
    },
  });
  const health = createHealthServer({
    port: env.HEALTH_PORT,
    live: { consumer: () => consumerFetches(consumer, () => queues.ping()), loops: () => loopsTurn(loops) },
    ready: { database: () => db.ping(), redis: () => queues.ping(), storage: () => storage.ping() },
  });
  lifecycle.onShutdown('health', () => health.close());

  const removeRow = await keepWorkerRow({ db, workerId, slots: env.MEDIA_SLOTS, logger });
  lifecycle.onShutdown('ingests', () => consumer.close({ graceMs: env.SHUTDOWN_GRACE_SECONDS * 1000 }));
  lifecycle.onShutdown('worker row', removeRow);
  consumer.start();
  for (const each of loops) each.start();
  const port = await health.start();
  logger.info('started', { worker_id: workerId, slots: env.MEDIA_SLOTS, health_port: port });
  return port;
}

function openStores(env: MediaWorkerEnv, logger: Logger, lifecycle: Lifecycle): { db: Db; storage: Storage } {
  const db = createDb({
    url: env.DATABASE_URL,
    poolMax: env.DATABASE_POOL_MAX,
    publicBaseUrl: env.PUBLIC_BASE_URL,
    onConnectionError: (error) => logger.warn('database connection lost', { error }),
  });
  lifecycle.onShutdown('database', () => db.close());
  const storage = createStorage({
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION,
    bucket: env.S3_BUCKET,
    accessKeyId: env.S3_ACCESS_KEY_ID,
    secretAccessKey: env.S3_SECRET_ACCESS_KEY,
    forcePathStyle: env.S3_FORCE_PATH_STYLE,
  });
  lifecycle.onShutdown('storage', () => storage.close());
  return { db, storage };
}

async function createRunner(
  env: MediaWorkerEnv,
  parts: { db: Db; storage: Storage; logger: Logger; workerId: string },
): Promise<IngestRunner> {
  const binaries = await resolveBinaries({
    FFMPEG_BIN: env.FFMPEG_BIN,
    FFPROBE_BIN: env.FFPROBE_BIN,
    PATH: env.PATH,
  });
  const { unshare, prlimit } = binaries.sandbox;
  const sandbox = { no_network: unshare !== undefined, limits: prlimit !== undefined };
  parts.logger.info('media tools', { ffmpeg: binaries.ffmpeg, ffprobe: binaries.ffprobe, ...sandbox });
  return createIngestRunner({
    ...parts,
    binaries,
    egress: createEgress({
      nodeEnv: env.NODE_ENV,
      allowedPorts: 'https-443',
      routes: env.EGRESS_ROUTES,
      ...(env.EGRESS_CA_FILE === undefined ? {} : { ca: readFileSync(env.EGRESS_CA_FILE, 'utf8') }),
    }),
    downloadTimeoutMs: env.DOWNLOAD_TIMEOUT_SECONDS * 1000,
    probeTimeoutMs: env.PROBE_TIMEOUT_SECONDS * 1000,
    folders: await createJobFolders(join(env.WORK_DIR, 'jobs')),
  });
}

async function loopsTurn(loops: readonly PeriodicLoop[]): Promise<void> {
  if (loops.some((loop) => Date.now() - loop.lastTurnAtMs() > STUCK_AFTER_MS))
    throw new Error('a loop is stuck');
}
