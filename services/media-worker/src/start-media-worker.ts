import { join } from 'node:path';
import { type Db, openDb, readBacklog } from '@lipsync/db';
import { WEBHOOK_ATTEMPTS_PER_ORIGIN } from '@lipsync/domain';
import { resolveBinaries } from '@lipsync/media';
import { createQueues } from '@lipsync/queue';
import { createHealthServer, type Lifecycle, type Logger, openEgress } from '@lipsync/runtime';
import { openStorage, type Storage, waitForStorageAccess } from '@lipsync/storage';
import { openTelemetry, type Telemetry } from '@lipsync/telemetry';
import { consumerFetches, createJobFolders, createWorker, keepWorkerRow, noTurnHangs } from '@lipsync/worker';
import { exportBacklog } from './backlog-gauges';
import { type MediaWorkerEnv } from './env';
import { createIngestRunner, type IngestRunner } from './ingest/ingest-runner';
import { createLoops } from './loops';

/** Wires and starts the worker; `lifecycle` closes what it opens. Resolves to the health server's port. */
export async function startMediaWorker(options: {
  env: MediaWorkerEnv;
  logger: Logger;
  lifecycle: Lifecycle;
  workerId: string;
}): Promise<number> {
  const { env, logger, lifecycle, workerId } = options;
  const redisUrl = env.REDIS_URL;
  const telemetry = await openTelemetry({ service: 'media-worker', env, logger, lifecycle });
  const { metrics } = telemetry;
  const db = openDb({ service: 'media-worker', env, logger });
  lifecycle.onShutdown('database', () => db.close());
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  const queues = createQueues({ redisUrl, logger });
  lifecycle.onShutdown('queues', () => queues.close());
  const runIngest = await createRunner(env, { db, storage, logger, telemetry, workerId });
  const caps = { perOrigin: WEBHOOK_ATTEMPTS_PER_ORIGIN, perCustomer: env.WEBHOOK_PER_CUSTOMER };
  exportBacklog(metrics, { read: () => readBacklog(db, caps), clock: performance, logger });
  metrics.gauge('unserved_deadline_seconds').set({}, env.UNSERVED_DEADLINE_SECONDS);

  const loops = createLoops({
    db,
    queues,
    storage,
    logger,
    metrics,
    lifecycle,
    purgeEveryMs: env.PURGE_INTERVAL_SECONDS * 1000,
    usageMonths: env.USAGE_RETENTION_MONTHS,
    unservedSeconds: env.UNSERVED_DEADLINE_SECONDS,
  });

  const worker = createWorker({
    redisUrl,
    queues: ['media'],
    slots: env.MEDIA_SLOTS,
    run: async ({ jobId, preempted, decided }) => {
      await runIngest(jobId, preempted, decided);
      // Renders may now have all their inputs, and a slot is free.
      loops.wakeEnqueueing();
    },
    logger,
  });
  const health = createHealthServer({
    port: env.HEALTH_PORT,
    host: env.LISTEN_ADDRESS,
    live: {
      consumer: consumerFetches(worker, () => queues.ping()),
      loops: noTurnHangs(loops.all),
    },
    ready: {
      database: () => db.ping(),
      redis: () => queues.ping(),
      storage: (signal) => storage.ping({ signal }),
    },
    stopping: lifecycle.stopping,
    metrics,
    logger,
  });
  // Before anything that may have to wait for the database.
  const port = await health.start();
  lifecycle.onShutdown('health', () => health.close());

  lifecycle.onShutdown('ingests', () => worker.close({ graceMs: env.SHUTDOWN_GRACE_SECONDS * 1000 }));
  if (lifecycle.stopping.aborted) return port;
  loops.start();
  await waitForStorageAccess(storage, { logger, signal: lifecycle.stopping });
  // A shutdown closes everything that was opened. Nothing waits between this check and the registration, so the row is
  // written while the database is still open.
  if (lifecycle.stopping.aborted) return port;
  await keepWorkerRow({
    db,
    workerId,
    service: 'media-worker',
    slots: { media: env.MEDIA_SLOTS },
    logger,
    metrics,
    lifecycle,
  });
  if (lifecycle.stopping.aborted) return port;
  worker.start();
  logger.info('started', { worker_id: workerId, slots: env.MEDIA_SLOTS, health_port: port });
  return port;
}

async function createRunner(
  env: MediaWorkerEnv,
  parts: { db: Db; storage: Storage; logger: Logger; telemetry: Telemetry; workerId: string },
): Promise<IngestRunner> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH, MEDIA_SANDBOX } = env;
  const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH, MEDIA_SANDBOX }, env.MEDIA_SLOTS);
  const { ffmpeg, ffprobe, sandbox, share } = binaries;
  parts.logger.info('media tools', {
    ffmpeg,
    ffprobe,
    no_network: sandbox.offline !== undefined,
    limits: sandbox.prlimit !== undefined,
    memory_bytes: share.memoryBytes,
  });
  return createIngestRunner({
    ...parts,
    binaries,
    egress: openEgress(env, 'https-443'),
    downloadSeconds: {
      total: env.DOWNLOAD_TIMEOUT_SECONDS,
      firstByte: env.DOWNLOAD_FIRST_BYTE_TIMEOUT_SECONDS,
    },
    probeTimeoutMs: env.PROBE_TIMEOUT_SECONDS * 1000,
    folders: await createJobFolders(join(env.WORK_DIR, 'jobs')),
  });
}
