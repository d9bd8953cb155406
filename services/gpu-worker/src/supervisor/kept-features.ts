import { stat } from 'node:fs/promises';
import {
  type Coverage,
  dropFeature,
  type FeatureKey,
  type Lease,
  publishFeature,
  registerObject,
} from '@lipsync/db';
import { sha256OfFile } from '@lipsync/model-pack';
import { featureKey, StorageError } from '@lipsync/storage';
import { CacheMismatch } from './disk-cache';
import { type JobTools } from './job-context';
import { StorageFailed, transferring } from './job-errors';

/**
 * Places a stored content at `path`, from the disk cache if possible. Returns false when the object is missing or does
 * not match its record: the record is then dropped, so that another job recomputes it. Rejects with StorageFailed when
 * the store is unavailable.
 */
export function fetchKept(
  tools: JobTools,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { cache, storage } = tools;
  const content = { customerId: key.customerId, sha256 };
  return undamaged(tools, key, sha256, (object) =>
    cache.place(content, path, (target) => storage.getToFile(object, target), signal),
  );
}

/** The same for the first bytes only. These have no digest to compare, so `isRight` checks what arrived. */
export function fetchFirst(
  tools: JobTools,
  key: FeatureKey,
  sha256: string,
  part: { readonly path: string; readonly bytes: number; readonly isRight: () => boolean },
  signal: AbortSignal,
): Promise<boolean> {
  return undamaged(tools, key, sha256, async (object) => {
    await tools.storage.getToFile(object, part.path, { firstBytes: part.bytes, signal });
    if (!part.isRight()) throw new CacheMismatch('the stored file is not what was recorded');
  });
}

async function undamaged(
  { db, logger }: JobTools,
  key: FeatureKey,
  sha256: string,
  fetch: (objectKey: string) => Promise<unknown>,
): Promise<boolean> {
  const objectKey = featureKey({ ...key, sha256 });
  try {
    await transferring(() => fetch(objectKey));
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    logger.warn('a kept feature is damaged or gone', { name: key.name, object_key: objectKey, error });
    await dropFeature(db, key, sha256);
    return false;
  }
}

/**
 * Stores a file as the content of a feature, for records that live until `expiresAt`; see `publishFeature` for `maker`.
 * Rejects with StorageFailed, or when the database is away.
 */
export async function storeKept(
  { db, storage }: JobTools,
  key: FeatureKey,
  file: string,
  made: Coverage & { readonly expiresAt: Date; readonly maker: Lease | null },
  signal: AbortSignal,
): Promise<boolean> {
  const { frames, complete, expiresAt, maker } = made;
  const sha256 = await sha256OfFile(file);
  const object = { ...key, sha256 };
  await registerObject(db, object, (await stat(file)).size);
  await transferring(() =>
    storage.put(featureKey(object), { file }, { contentType: 'application/octet-stream', signal }),
  );
  return publishFeature(db, key, { sha256, frames, complete }, { expiresAt, maker });
}

/** Whether the stored object differs from the record for good, so that a retry cannot help. */
function isDamage(error: unknown): boolean {
  const cause = error instanceof StorageFailed ? error.cause : error;
  return cause instanceof CacheMismatch || (cause instanceof StorageError && cause.kind === 'not_found');
}
