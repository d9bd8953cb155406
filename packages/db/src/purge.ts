import { TOMBSTONE_SECONDS } from '@lipsync/domain';
import { type Db } from './db';
import { eachCandidate } from './each-candidate';
import {
  deleteExpiredFeatures,
  deleteUnnamedObject,
  type FeatureObjectId,
  findUnnamedObjects,
} from './feature-objects';
import {
  confirmPurgeable,
  findPurgeableAssets,
  findPurgeablePreparations,
  findPurgeableRenders,
  findPurgeableUploads,
  markPurged,
  type ObjectKeys,
  type Purgeable,
} from './purgeable';
import { deleteExpiredKeys, deleteSilentWorkers, deleteTombstones } from './tombstones';

export type PurgedKind = Purgeable['kind'] | 'feature';

export interface PurgeOptions {
  storage: {
    /** Deletes objects; keys that do not exist are no error. */
    delete(keys: readonly string[]): Promise<void>;
    /** All keys with this prefix. */
    list(prefix: string): AsyncIterable<string>;
  };
  keys: ObjectKeys;
  /** After this no further resource is begun: slow storage must not make a call endless. */
  budgetMs?: number;
  /** Resources per kind and call. */
  limit?: number;
  /** Once aborted, no further resource is begun. */
  stopping?: AbortSignal;
  /** Told of each resource, and each object of a feature, whose bytes are gone. */
  onPurged?: (kind: PurgedKind) => void;
}

export interface PurgeReport {
  /** Expired resources and unused features whose bytes are gone now. */
  purged: number;
  /** Rows deleted for good. */
  deletedRows: number;
  errors: unknown[];
  /** The next call would find more at once, and this one got on. */
  more: boolean;
}

/** Resources per kind and call. */
const LIMIT = 200;
const BUDGET_MS = 20_000;

/**
 * Deletes the bytes of what has expired, then the rows of what has been expired for long enough, and features,
 * idempotency keys and workers that are past. Objects go first: a row is marked only when its objects are gone, so a
 * crash in between repeats the deletion and never leaks an object. Assets that an open record uses are left until it
 * ends. At least one resource is handled per call unless it is to stop; what was not reached comes up again at the next
 * one.
 */
export async function purge(db: Db, options: PurgeOptions): Promise<PurgeReport> {
  const {
    storage,
    keys,
    budgetMs = BUDGET_MS,
    limit = LIMIT,
    stopping,
    onPurged = () => undefined,
  } = options;
  const errors: unknown[] = [];
  const deletedFeatures = await deleteExpiredFeatures(db, limit);
  const kinds: Purgeable[][] = [
    await findPurgeableRenders(db, keys, limit),
    await findPurgeablePreparations(db, limit),
    await findPurgeableUploads(db, limit),
    await findPurgeableAssets(db, keys, limit),
  ];
  const unnamed = await findUnnamedObjects(db, limit);
  const endsAtMs = performance.now() + budgetMs;
  let isFirst = true;
  let more = [...kinds, unnamed].some(({ length }) => length === limit);
  const inTime = (): boolean => {
    const goesOn = stopping?.aborted !== true && (isFirst || performance.now() < endsAtMs);
    isFirst = false;
    if (!goesOn) more = true;
    return goesOn;
  };
  const purgeResource = async (item: Purgeable): Promise<boolean> => {
    if (!inTime() || !(await confirmPurgeable(db, item))) return false;
    const objects = new Set(item.objectKeys);
    if (item.prefix !== undefined) for await (const key of storage.list(item.prefix)) objects.add(key);
    if (objects.size > 0) await storage.delete([...objects]);
    await markPurged(db, item);
    onPurged(item.kind);
    return true;
  };
  const purgeObject = async (object: FeatureObjectId): Promise<boolean> => {
    if (!inTime()) return false;
    const deleted = await deleteUnnamedObject(db, object, () => storage.delete([keys.featureKey(object)]));
    if (deleted) onPurged('feature');
    return deleted;
  };

  const purged =
    (await eachCandidate(kinds.flat(), purgeResource, errors)) +
    (await eachCandidate(unnamed, purgeObject, errors));
  const tombstones = await deleteTombstones(db, TOMBSTONE_SECONDS, limit);
  const expiredKeys = await deleteExpiredKeys(db, limit);
  const silentWorkers = await deleteSilentWorkers(db);
  return {
    purged,
    deletedRows: deletedFeatures + tombstones + expiredKeys + silentWorkers,
    errors,
    more: (more && purged > 0) || expiredKeys === limit,
  };
}
