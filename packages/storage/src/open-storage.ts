import { setTimeout as pause } from 'node:timers/promises';
import { EnvError, type Logger, withController } from '@lipsync/runtime';
import { type KeyPair } from './s3-client';
import { createStorage, type Storage } from './storage';
import { StorageError } from './storage-error';

/** The settings of a process that configure its object store. */
interface StorageEnv {
  readonly S3_ENDPOINT: string;
  readonly S3_PUBLIC_ENDPOINT?: string | undefined;
  readonly S3_REGION: string;
  readonly S3_BUCKET: string;
  readonly S3_ACCESS_KEY_ID: string;
  readonly S3_SECRET_ACCESS_KEY: string;
  readonly S3_UPLOAD_ACCESS_KEY_ID?: string | undefined;
  readonly S3_UPLOAD_SECRET_ACCESS_KEY?: string | undefined;
  readonly S3_FORCE_PATH_STYLE: boolean;
}

/**
 * Opens the object store that the environment configures.
 * @throws EnvError when only one half of the pair for uploads is set
 */
export function openStorage(env: StorageEnv): Storage {
  return createStorage({
    endpoint: env.S3_ENDPOINT,
    ...(env.S3_PUBLIC_ENDPOINT === undefined ? {} : { publicEndpoint: env.S3_PUBLIC_ENDPOINT }),
    region: env.S3_REGION,
    bucket: env.S3_BUCKET,
    accessKeyId: env.S3_ACCESS_KEY_ID,
    secretAccessKey: env.S3_SECRET_ACCESS_KEY,
    uploadCredentials: uploadCredentials(env),
    forcePathStyle: env.S3_FORCE_PATH_STYLE,
  });
}

function uploadCredentials(env: StorageEnv): KeyPair | undefined {
  const { S3_UPLOAD_ACCESS_KEY_ID: accessKeyId, S3_UPLOAD_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new EnvError('S3_UPLOAD_ACCESS_KEY_ID and S3_UPLOAD_SECRET_ACCESS_KEY: set both or neither');
  return { accessKeyId, secretAccessKey };
}

const AGAIN_AFTER_MS = 5_000;
/** A store that stays silent for this long is unavailable, rather than refusing. */
const SILENCE_MS = 5_000;

/**
 * Waits while the store refuses this process because its key or its bucket is wrong. Otherwise the worker would take
 * job after job from workers that could do them. Also resolves if the store is unavailable, which jobs wait for by
 * themselves, and when `signal` is aborted.
 */
export async function waitForStorageAccess(
  storage: Pick<Storage, 'ping'>,
  { logger, signal, everyMs = AGAIN_AFTER_MS }: { logger: Logger; signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let logged = false;
  for (;;) {
    try {
      await withController({ signal, ms: SILENCE_MS }, (asking) => storage.ping({ signal: asking.signal }));
      return;
    } catch (error) {
      if (signal.aborted || !isRefusal(error)) return;
      if (!logged)
        logger.error('the object store refuses this worker, which takes no job meanwhile', { error });
      logged = true;
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof StorageError && error.kind !== 'unavailable';
}
