import { join } from 'node:path';
import { type AssetRow } from '@lipsync/domain';
import { type Storage } from '@lipsync/storage';
import { type DiskCache } from './disk-cache';
import { type JobContext } from './gpu-job-runner';

/** The object store failed, or its content does not match the record. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
}

/** Runs a transfer and converts any error to StorageFailed. */
export async function transferring<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = isDiskFull(error)
      ? 'there is no room left for a transfer on the disk of this worker'
      : 'a transfer to or from the object store failed';
    throw new StorageFailed(message, { cause: error });
  }
}

/** Whether there was no room for what this process wanted to write. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Where inputs come from. */
interface InputSource {
  readonly storage: Pick<Storage, 'getToFile'>;
  readonly cache: DiskCache;
}

/**
 * Places the bytes of a ready asset as `name` in a job's folder, from the cache if possible. Rejects with StorageFailed
 * when they cannot be fetched or do not match the record.
 */
export async function fetchAsset(
  source: InputSource,
  asset: AssetRow,
  { folder, signal }: Pick<JobContext, 'folder' | 'signal'>,
  name: string,
): Promise<{ path: string; from: 'hit' | 'fetched' }> {
  const { customerId, objectKey, sha256 } = asset;
  if (objectKey === null || sha256 === null) throw new StorageFailed('the asset has no stored bytes');
  const path = join(folder, name);
  const from = await transferring(() =>
    source.cache.place(
      { customerId, sha256 },
      path,
      (target) => source.storage.getToFile(objectKey, target),
      signal,
    ),
  );
  return { path, from };
}

/**
 * Like `Promise.all`, but rejects only once nothing is running any more: a job's folder is removed when it fails, and
 * nothing may still be writing into it.
 */
export async function allEnded<T extends readonly unknown[] | []>(
  running: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
