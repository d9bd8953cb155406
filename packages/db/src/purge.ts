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
import { deleteForgotten, deleteTombstones } from './tombstones';

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
  /** Told of each resource, and each object of a feature, whose bytes are gone. */
  onPurged?: (kind: PurgedKind) => void;
}

export interface PurgeReport {
  /** Expired resources and unused features whose bytes are gone now. */
  purged: number;
  /** Rows deleted for good. */
  deletedRows: number;
  errors: unknown[];
}

/** Resources per kind and call. */
const LIMIT = 200;
const BUDGET_MS = 20_000;

/**
 * Deletes the bytes of what has expired, then the rows of what has been expired for long enough, and features,
 * idempotency keys and workers that are past. Objects go first: a row is marked only when its objects are gone, so a
 * crash in between repeats the deletion and never leaks an object. Assets that an open record uses are left until it
 * ends. At least one resource is handled per call; what was not reached comes up again at the next one.
 */
export async function purge(db: Db, options: PurgeOptions): Promise<PurgeReport> {
  const { storage, keys, budgetMs = BUDGET_MS, onPurged = () => undefined } = options;
  const errors: unknown[] = [];
  const deletedFeatures = await deleteExpiredFeatures(db, LIMIT);
  const expired: Purgeable[] = [
    ...(await findPurgeableRenders(db, keys, LIMIT)),
    ...(await findPurgeablePreparations(db, LIMIT)),
    ...(await findPurgeableUploads(db, LIMIT)),
    ...(await findPurgeableAssets(db, keys, LIMIT)),
  ];
  const endsAtMs = performance.now() + budgetMs;
  let isFirst = true;
  const inTime = (): boolean => {
    const goesOn = isFirst || performance.now() < endsAtMs;
    isFirst = false;
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
    (await eachCandidate(expired, purgeResource, errors)) +
    (await eachCandidate(await findUnnamedObjects(db, LIMIT), purgeObject, errors));
  const tombstones = await deleteTombstones(db, TOMBSTONE_SECONDS, LIMIT);
  const forgotten = await deleteForgotten(db);
  return { purged, deletedRows: deletedFeatures + tombstones + forgotten, errors };
}
