import { join } from 'node:path';
import { admitJobs, createDb, type Db, type QueueName } from '@lipsync/db';
import {
  createConsumer,
  createQueues,
  onCancel,
  ringQueue,
  type Consumer,
  type Queues,
} from '@lipsync/queue';
import { createHealthServer, type Lifecycle, type Logger } from '@lipsync/runtime';
import { createStorage } from '@lipsync/storage';
import { type GpuWorkerEnv } from './env';
import { findPacks } from './host/find-packs';
import { createInferenceHost, type InferenceHost } from './host/inference-host';
import { createDiskCache } from './supervisor/disk-cache';
import { createJobFolders } from './supervisor/job-folder';
import { createJobRunner, type JobRunner } from './supervisor/job-runner';
import { createSlotPool, type SlotPool } from './supervisor/slot-pool';
import { verifyPacks } from './supervisor/verify-packs';
import { keepWorkerRow, type WorkerRow } from './supervisor/worker-row';

const RING_DEADLINE_MS = 500;
/** After the grace: time to record that jobs were handed back. */
const HANDING_BACK_MS = 5_000;

/**
 * Wires and starts the worker: packs verified, a slot pool of inference processes, one consumer per queue that it can
 * serve. What it opens is closed by `lifecycle`, in the order that hands running jobs over.
 */
export async function startWorker(options: {
  env: GpuWorkerEnv;
  logger: Logger;
  lifecycle: Lifecycle;
  workerId: string;
}): Promise<void> {
  const { env, logger, lifecycle, workerId } = options;
  const redisUrl = env.REDIS_URL;
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
  const queues = createQueues({ redisUrl, logger });
  lifecycle.onShutdown('queues', () => queues.close());

  const hosts = Array.from({ length: env.GPU_SLOTS }, () => createInferenceHost());
  lifecycle.onShutdown('inference', () => hosts.forEach((host) => host.kill()));
  const slots = createSlotPool(hosts);
  const packs = await withSlot(slots, lifecycle.stopping, async (host) =>
    verifyPacks(await findPacks(env.MODEL_PACKS_DIR), env.ENGINES, host, logger),
  );
  const served: QueueName[] = packs.analyzer ? ['preparation', ...packs.engines.keys()] : [];

  const runner = createJobRunner({
    ...{ db, storage, packs, slots, workerId, logger },
    cache: await createDiskCache({ folder: join(env.WORK_DIR, 'cache'), maxBytes: env.CACHE_MAX_BYTES }),
    folders: await createJobFolders(join(env.WORK_DIR, 'jobs')),
    limitMs: env.ENGINE_TIMEOUT_SECONDS * 1000,
  });
  const consumers = served.map((queue) =>
    createConsumer({
      ...{ redisUrl, queue, logger },
      concurrency: env.GPU_SLOTS,
      process: async (jobId) => {
        await runner.run(jobId, lifecycle.stopping);
        // A place is free: let the next job in without waiting for somebody's next round.
        if (!lifecycle.stopping.aborted) await ring(db, queues, queue);
      },
    }),
  );
  const cancels = onCancel(redisUrl, (jobId) => runner.checkCancelled(jobId));
  lifecycle.onShutdown('cancel signal', () => cancels.close());
  const health = createHealthServer({
    port: env.HEALTH_PORT,
    ready: {
      database: () => db.ping(),
      storage: () => storage.ping(),
      engines: async () => {
        if (packs.engines.size === 0) throw new Error('no engine is available');
      },
    },
  });
  lifecycle.onShutdown('health', () => health.close());

  consumers.forEach((consumer) => consumer.start());
  const slotsByQueue = Object.fromEntries(served.map((queue) => [queue, env.GPU_SLOTS]));
  const row = await keepWorkerRow({ db, workerId, slots: slotsByQueue, logger });
  lifecycle.onShutdown('jobs', () => drain(row, consumers, runner, env.SHUTDOWN_GRACE_SECONDS * 1000));
  const port = await health.start();
  logger.info('started', { worker_id: workerId, queues: served, slots: env.GPU_SLOTS, health_port: port });
}

/**
 * Announces that no more jobs are wanted, waits for the running ones as long as the grace lasts, then hands the rest
 * back so that another worker can start on them at once.
 */
async function drain(
  row: WorkerRow,
  consumers: readonly Consumer[],
  runner: JobRunner,
  graceMs: number,
): Promise<void> {
  await row.remove().catch(() => undefined);
  const timer = setTimeout(() => runner.preempt(), graceMs);
  await Promise.all(consumers.map((consumer) => consumer.close({ graceMs: graceMs + HANDING_BACK_MS })));
  clearTimeout(timer);
}

async function withSlot<T>(
  slots: SlotPool<InferenceHost>,
  signal: AbortSignal,
  use: (host: InferenceHost) => Promise<T>,
): Promise<T> {
  const host = await slots.borrow(signal);
  try {
    return await use(host);
  } finally {
    slots.giveBack(host);
  }
}

function ring(db: Db, queues: Queues, queue: QueueName): Promise<unknown> {
  return ringQueue({
    admit: () => admitJobs(db, queue),
    add: (job) => queues.add(queue, job),
    deadlineMs: RING_DEADLINE_MS,
  });
}
