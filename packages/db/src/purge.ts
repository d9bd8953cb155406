import { TOMBSTONE_SECONDS } from '@lipsync/domain';
import { type Db } from './db';
import { eachCandidate } from './each-candidate';
import {
  findPurgeableAssets,
  findPurgeablePreparations,
  findPurgeableRenders,
  findPurgeableUploads,
  markPurged,
  type ObjectKeys,
  type Purgeable,
} from './purgeable';
import { deleteForgotten, deleteTombstones } from './tombstones';

export interface PurgeOptions extends ObjectKeys {
  /** Deletes objects; keys that do not exist are no error. */
  deleteObjects: (keys: string[]) => Promise<void>;
  /** How long expired resources are still known (410) before they are unknown (404). */
  tombstoneSeconds?: number;
  /** Resources per kind and call. */
  limit?: number;
}

export interface PurgeReport {
  /** Expired resources whose bytes are gone now. */
  purged: number;
  /** Rows deleted for good. */
  deletedRows: number;
  errors: unknown[];
}

const LIMIT = 200;

/**
 * Deletes the bytes of what has expired, then the rows of what has been expired for long enough, and idempotency keys
 * and workers that are past. Objects go first: a row is marked only when its objects are gone, so a crash in between
 * repeats the deletion and never leaks an object. Assets that an open record uses are left until it ends.
 */
export async function purge(db: Db, options: PurgeOptions): Promise<PurgeReport> {
  const limit = options.limit ?? LIMIT;
  const errors: unknown[] = [];
  const expired: Purgeable[] = [
    ...(await findPurgeableRenders(db, options, limit)),
    ...(await findPurgeablePreparations(db, options, limit)),
    ...(await findPurgeableUploads(db, limit)),
    ...(await findPurgeableAssets(db, limit)),
  ];
  const purged = await eachCandidate(
    expired,
    async (item) => {
      if (item.objectKeys.length > 0) await options.deleteObjects(item.objectKeys);
      await markPurged(db, item);
      return true;
    },
    errors,
  );
  const tombstones = await deleteTombstones(db, options.tombstoneSeconds ?? TOMBSTONE_SECONDS, limit);
  return { purged, deletedRows: tombstones + (await deleteForgotten(db)), errors };
}
