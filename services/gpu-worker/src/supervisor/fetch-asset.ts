import { join } from 'node:path';
import { type AssetRow } from '@lipsync/domain';
import { type Storage } from '@lipsync/storage';
import { type DiskCache } from './disk-cache';
import { type JobContext } from './job-context';
import { StorageFailed, transferring } from './job-errors';

/** Where inputs come from. */
export interface InputSource {
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
