import { join } from 'node:path';
import { type Db, openDb, readBacklog } from '@lipsync/db';
import { WEBHOOK_ATTEMPTS_PER_ORIGIN } from '@lipsync/domain';
import { resolveBinaries } from '@lipsync/media';
import { createConsumer, createQueues } from '@lipsync/queue';
import { createHealthServer, type Lifecycle, type Logger, openEgress } from '@lipsync/runtime';
import { openStorage, type Storage, untilLetIn } from '@lipsync/storage';
import { countTurns, openTelemetry, type Telemetry } from '@lipsync/telemetry';
import {
  consumerFetches,
  createJobFolders,
  createPeriodicLoop,
  keepWorkerRow,
  noTurnHangs,
  type PeriodicLoop,
} from '@lipsync/worker';
import { tellBacklog } from './backlog-gauges';
import { type MediaWorkerEnv } from './env';
import { createIngestRunner, type IngestRunner } from './ingest/ingest-runner';
import { createAdmission } from './loops/admission';
import { purgeOnce } from './loops/purging';
import { reconcileOnce } from './loops/reconciliation';

type LoopName = 'admission' | 'reconciliation' | 'purging';

const ADMISSION_EVERY_MS = 500;
const RECONCILE_EVERY_MS = 1_000;

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
  tellBacklog(metrics, { read: () => readBacklog(db, caps), clock: performance, logger });
  metrics.gauge('unserved_deadline_seconds').set({}, env.UNSERVED_DEADLINE_SECONDS);

  const loop = (name: LoopName, everyMs: number, turn: () => Promise<void>): PeriodicLoop => {
    const made = createPeriodicLoop({
      name,
      everyMs,
      turn,
      logger,
      onTurn: countTurns(metrics, name, everyMs),
    });
    lifecycle.onShutdown(name, () => made.stop());
    return made;
  };
  const admission = loop('admission', ADMISSION_EVERY_MS, createAdmission(db, queues, logger));
  const reconciliation = loop('reconciliation', RECONCILE_EVERY_MS, async () => {
    const options = { unservedSeconds: env.UNSERVED_DEADLINE_SECONDS };
    if (await reconcileOnce(db, queues, { logger, metrics, ...options })) admission.wake();
  });
  const purging = loop('purging', env.PURGE_INTERVAL_SECONDS * 1000, async () => {
    const { stopping } = lifecycle;
    if (await purgeOnce(db, storage, { logger, metrics, stopping })) purging.wake();
  });
  const loops = [admission, reconciliation, purging];

  const consumer = createConsumer({
    ...{ redisUrl, queues: ['media'], concurrency: env.MEDIA_SLOTS, logger },
    process: async (jobId, preempted) => {
      await runIngest(jobId, preempted);
      // Renders may now have all their inputs, and a slot is free.
      admission.wake();
    },
  });
  const health = createHealthServer({
    port: env.HEALTH_PORT,
    host: env.LISTEN_ADDRESS,
    live: {
      consumer: consumerFetches(consumer, () => queues.ping()),
      loops: noTurnHangs(loops),
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

  lifecycle.onShutdown('ingests', () => consumer.close({ graceMs: env.SHUTDOWN_GRACE_SECONDS * 1000 }));
  if (lifecycle.stopping.aborted) return port;
  for (const each of loops) each.start();
  await untilLetIn(storage, { logger, signal: lifecycle.stopping });
  // A shutdown closes everything that was opened. Nothing waits between this check and the registration, so the row is
  // written while the database is still open.
  if (lifecycle.stopping.aborted) return port;
  await keepWorkerRow({
    ...{ db, workerId, logger, metrics, lifecycle },
    service: 'media-worker',
    slots: { media: env.MEDIA_SLOTS },
  });
  if (lifecycle.stopping.aborted) return port;
  consumer.start();
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
    ...{ ffmpeg, ffprobe, no_network: sandbox.offline !== undefined, limits: sandbox.prlimit !== undefined },
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
