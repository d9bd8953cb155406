import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { enqueueJobs, findUnknownContents, openDb, type QueueName } from '@lipsync/db';
import { usableMemory } from '@lipsync/media';
import { createEnqueuer, createQueues } from '@lipsync/queue';
import { type Lifecycle, type Logger } from '@lipsync/runtime';
import { openStorage, waitForStorageAccess } from '@lipsync/storage';
import { openTelemetry, serviceVersion } from '@lipsync/telemetry';
import { createJobFolders, createPeriodicLoop, createWorker, keepWorkerRow } from '@lipsync/worker';
import { type GpuWorkerEnv } from './env';
import { findVideoCodecs } from './host/child-environment';
import { findPacks, type FoundPacks } from './host/find-packs';
import { readCards } from './host/graphics-card';
import { createInferenceHost, type InferenceLoss } from './host/inference-host';
import { createDiskCache } from './supervisor/disk-cache';
import { createGpuJobRunner, createSlotPool } from './supervisor/gpu-job-runner';
import { machineSlots } from './supervisor/machine-slots';
import { openOutputMarks } from './supervisor/output-marks';
import { verifyPacks, warmUp } from './supervisor/verify-packs';
import { createWorkerHealth } from './supervisor/worker-health';
import { openPodCosts } from './usage/pod-cost';
import { createPodMeter, gpuModels } from './usage/pod-meter';

/**
 * Wires and starts the worker: health endpoints from the first moment, verified packs, a slot pool of inference
 * processes, and one worker for all queues that it can serve. `lifecycle` closes what it opens, in the order that
 * hands over running jobs.
 */
export async function startWorker(options: {
  env: GpuWorkerEnv;
  logger: Logger;
  lifecycle: Lifecycle;
  workerId: string;
}): Promise<void> {
  const { env, logger, lifecycle, workerId } = options;
  const redisUrl = env.REDIS_URL;
  const telemetry = await openTelemetry({ service: 'gpu-worker', env, logger, lifecycle });
  const { metrics } = telemetry;
  const db = openDb({ service: 'gpu-worker', env, logger });
  lifecycle.onShutdown('database', () => db.close());
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  const queues = createQueues({ redisUrl, logger });
  lifecycle.onShutdown('queues', () => queues.close());

  const health = createWorkerHealth({
    port: env.HEALTH_PORT,
    host: env.LISTEN_ADDRESS,
    db,
    storage,
    queues,
    stopping: lifecycle.stopping,
    metrics,
    logger,
    loadingLimitMs: env.LOADING_TIMEOUT_SECONDS * 1000,
  });
  const port = await health.start();
  lifecycle.onShutdown('health', () => health.close());

  const marks = await openOutputMarks({ env, version: serviceVersion(), logger, metrics });
  const codecs = await findVideoCodecs(env, process.env, logger);
  const packs = await usablePacks(env, logger);
  const available = metrics.gauge('engine_available');
  for (const engine of env.ENGINES) available.set({ engine }, packs.engines.has(engine) ? 1 : 0);
  const slotCount = env.GPU_SLOTS === 'auto' ? await slotsFor(packs, env.MODEL_CACHE_BYTES) : env.GPU_SLOTS;
  const { MEDIA_SANDBOX } = env;
  const environment = { ...process.env, ...codecs, MEDIA_SANDBOX, GPU_SLOTS: String(slotCount) };
  const restarts = metrics.counter('inference_restarts_total');
  const onLost = (reason: InferenceLoss): void => restarts.inc({ reason });
  const hosts = Array.from({ length: slotCount }, () => createInferenceHost({ environment, onLost }));
  lifecycle.onShutdown('inference', () => hosts.forEach((host) => host.kill()));
  await warmUp(hosts, packs, env.MODEL_CACHE_BYTES, logger);
  health.loaded(packs);
  const slots = createSlotPool(hosts);
  const preparations: QueueName[] = env.PREPARATIONS ? ['preparation'] : [];
  const served: QueueName[] = packs.analyzer ? [...preparations, ...packs.engines.keys()] : [];

  const cache = await createDiskCache({ folder: join(env.WORK_DIR, 'cache'), maxBytes: env.CACHE_MAX_BYTES });
  const forgetting = createPeriodicLoop({
    name: 'forgetting of files',
    everyMs: FORGET_EVERY_MS,
    turn: () => cache.forget((contents) => findUnknownContents(db, contents)),
    onTurn: () => undefined,
    logger,
  });
  lifecycle.onShutdown('forgetting of files', () => forgetting.stop());
  forgetting.start();
  const runner = createGpuJobRunner({
    db,
    storage,
    packs,
    videoOutput: codecs.VIDEO_OUTPUT,
    slots,
    marks,
    workerId,
    logger,
    telemetry,
    podMeter: createPodMeter({
      costs: openPodCosts(env),
      priceList: env.PRICE_LIST,
      slots: slotCount,
      gpuModels: await gpuModels(),
      logger,
    }),
    cache,
    folders: await createJobFolders(join(env.WORK_DIR, 'jobs')),
    limitMs: env.ENGINE_TIMEOUT_SECONDS * 1000,
    // The restarted process will look for packs again. This one must stop, because it would refuse every further job.
    onUnfit: (reason) => void lifecycle.shutdown(reason, 1),
  });
  await waitForStorageAccess(storage, { logger, signal: lifecycle.stopping });
  // A shutdown closes everything that was opened. Nothing waits between this check and the registration, so the row is
  // written while the database is still open.
  if (lifecycle.stopping.aborted) return;
  const enqueuer = createEnqueuer<QueueName>({
    choose: (queue) => enqueueJobs(db, queue),
    add: (queue, message) => queues.add(queue, message),
    logger,
  });
  lifecycle.onShutdown('enqueuing', () => enqueuer.idle());
  const worker = createWorker({
    redisUrl,
    queues: served,
    slots: slotCount,
    run: async ({ jobId, queue, preempted, decided }) => {
      await runner.run(jobId, preempted, decided);
      // A slot is free: enqueue the next job now instead of in the next round of a media-worker.
      if (!lifecycle.stopping.aborted) enqueuer.enqueueSoon([queue]);
    },
    onCancelled: (jobId) => runner.checkCancelled(jobId),
    logger,
  });
  lifecycle.onShutdown('jobs', () => worker.close({ graceMs: env.SHUTDOWN_GRACE_SECONDS * 1000 }));
  await keepWorkerRow({
    db,
    workerId,
    service: 'gpu-worker',
    slots: Object.fromEntries(served.map((queue) => [queue, slotCount])),
    logger,
    metrics,
    lifecycle,
  });
  if (lifecycle.stopping.aborted) return;
  worker.start();
  enqueuer.enqueueSoon(served);
  health.serving(worker);
  logger.info('started', { worker_id: workerId, queues: served, slots: slotCount, health_port: port });
}

/** How long what was erased may stay in the cache of a worker. */
const FORGET_EVERY_MS = 60_000;

/** The number of inference processes that this machine can run with these packs. */
async function slotsFor({ analyzer, engines }: FoundPacks, modelCacheBytes: number): Promise<number> {
  const packs = [...(analyzer ? [analyzer] : []), ...engines.values()];
  const all = packs.reduce((sum, { bytes }) => sum + bytes, 0);
  const onCard = packs.some(({ provider }) => provider !== undefined && provider !== 'cpu');
  return machineSlots({
    memoryBytes: usableMemory(),
    cores: availableParallelism(),
    card: onCard ? { memoryBytes: await cardMemory() } : undefined,
    // One pack that is larger than what is kept of all is kept alone.
    weightBytes: Math.max(...packs.map(({ bytes }) => bytes), Math.min(all, modelCacheBytes)),
  });
}

/** Bytes of the machine's smallest card, because nobody says which one graphs run on; undefined if it is not known. */
async function cardMemory(): Promise<number | undefined> {
  const cards = await readCards().catch(() => []);
  const sizes = cards.flatMap(({ memory_mib }) => memory_mib ?? []);
  return sizes.length < cards.length || sizes.length === 0 ? undefined : Math.min(...sizes) * 1024 ** 2;
}

/** The packs that this worker can use, verified in a separate process. */
async function usablePacks(env: GpuWorkerEnv, logger: Logger): Promise<FoundPacks> {
  // How many processes will share the machine depends on these packs; for now this one has it to itself.
  const host = createInferenceHost({ environment: { ...process.env, GPU_SLOTS: undefined } });
  try {
    return await verifyPacks(await findPacks(env.MODEL_PACKS_DIR), env.ENGINES, host, logger);
  } finally {
    host.kill();
  }
}
