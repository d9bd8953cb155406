import { runService, type StartService, z } from '@lipsync/runtime';
import { openStorage } from '@lipsync/storage';
import { gpuWorkerEnvironment } from './env';
import { fetchStoredPacks } from './host/fetch-stored-packs';

const fetchPacksEnvironment = gpuWorkerEnvironment
  .pick({
    LOG_LEVEL: true,
    S3_ENDPOINT: true,
    S3_REGION: true,
    S3_BUCKET: true,
    S3_ACCESS_KEY_ID: true,
    S3_SECRET_ACCESS_KEY: true,
    S3_FORCE_PATH_STYLE: true,
    MODEL_PACKS_DIR: true,
    ENGINES: true,
  })
  .extend({
    /** Where the packs lie in the bucket, a folder each. */
    MODEL_PACKS_S3_PREFIX: z.string(),
  });

/** One run before a worker starts, with the worker's own settings: the process ends with 0 when every pack is in place. */
const start: StartService<z.output<typeof fetchPacksEnvironment>> = async (env, logger, lifecycle) => {
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  await fetchStoredPacks({
    ...{ storage, logger },
    prefix: env.MODEL_PACKS_S3_PREFIX,
    packsDir: env.MODEL_PACKS_DIR,
    engines: env.ENGINES,
    signal: lifecycle.stopping,
  });
  await lifecycle.shutdown('every pack is in place');
};

void runService({ service: 'fetch-packs', environment: fetchPacksEnvironment, start });
