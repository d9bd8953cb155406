import { ENGINES } from '@lipsync/contract';
import { environment, z } from '@lipsync/runtime';

const seconds = (default_: number) => z.coerce.number('must be a number').int().positive().default(default_);

/** What the gpu-worker reads from its environment. */
export const gpuWorkerEnvironment = environment
  .pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    S3_ENDPOINT: true,
    PUBLIC_BASE_URL: true,
    S3_REGION: true,
    S3_BUCKET: true,
    S3_ACCESS_KEY_ID: true,
    S3_SECRET_ACCESS_KEY: true,
    S3_FORCE_PATH_STYLE: true,
    HEALTH_PORT: true,
    MODEL_PACKS_DIR: true,
    GPU_SLOTS: true,
    WORK_DIR: true,
  })
  .extend({
    /** Engines this worker may serve; those of them that have a good pack are served. */
    ENGINES: environment.shape.ENGINES.pipe(z.array(z.enum(ENGINES, `must be of ${ENGINES.join(', ')}`))),
    /** Wall-clock limit of one render or analysis, from claim to completion. */
    ENGINE_TIMEOUT_SECONDS: seconds(3600),
    /** How long running jobs may go on after SIGTERM before they are handed to another worker. */
    SHUTDOWN_GRACE_SECONDS: seconds(20),
    /** Bound of the cache of inputs under WORK_DIR. */
    CACHE_MAX_BYTES: z.coerce
      .number()
      .int()
      .nonnegative()
      .default(4 * 1024 ** 3),
  });

export type GpuWorkerEnv = z.output<typeof gpuWorkerEnvironment>;
