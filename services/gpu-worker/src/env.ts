import { ENGINES } from '@lipsync/contract';
import { environment, STORAGE_SETTINGS, wholeNumber, z } from '@lipsync/runtime';

/** What the gpu-worker reads from its environment. */
export const gpuWorkerEnvironment = environment
  .pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
    HEALTH_PORT: true,
    MODEL_PACKS_DIR: true,
    GPU_SLOTS: true,
    WORK_DIR: true,
  })
  .extend({
    /** Engines this worker may serve; those of them that have a good pack are served. */
    ENGINES: environment.shape.ENGINES.pipe(z.array(z.enum(ENGINES, `must be of ${ENGINES.join(', ')}`))),
    /** Wall-clock limit of one render or analysis, from claim to completion. */
    ENGINE_TIMEOUT_SECONDS: wholeNumber(1).default(3600),
    /** How long running jobs may go on after SIGTERM before they are handed to another worker. */
    SHUTDOWN_GRACE_SECONDS: wholeNumber(1).default(20),
    /** Bound of the cache of inputs under WORK_DIR. */
    CACHE_MAX_BYTES: wholeNumber(0).default(4 * 1024 ** 3),
  });

export type GpuWorkerEnv = z.output<typeof gpuWorkerEnvironment>;
