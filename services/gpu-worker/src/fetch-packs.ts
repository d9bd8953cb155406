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
    /** Prefix in the bucket that holds the packs, one folder each. */
    MODEL_PACKS_S3_PREFIX: z.string(),
    /** Names of the folders to fetch; default: the face analyzer's, and all that are for one of ENGINES. */
    MODEL_PACKS: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*(,[A-Za-z0-9][\w.-]*)*$/, 'must be names of folders')
      .transform((text) => text.split(','))
      .optional(),
  });

/** Runs once before a worker starts, with the worker's own settings; exits with 0 when every pack is in place. */
const start: StartService<z.output<typeof fetchPacksEnvironment>> = async (env, logger, lifecycle) => {
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  await fetchStoredPacks({
    ...{ storage, logger },
    prefix: env.MODEL_PACKS_S3_PREFIX,
    packsDir: env.MODEL_PACKS_DIR,
    engines: env.ENGINES,
    ...(env.MODEL_PACKS === undefined ? {} : { names: env.MODEL_PACKS }),
    signal: lifecycle.stopping,
  });
  await lifecycle.shutdown('every pack is in place');
};

void runService({ service: 'fetch-packs', environment: fetchPacksEnvironment, start });
