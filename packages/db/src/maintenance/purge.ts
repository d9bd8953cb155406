import { TOMBSTONE_SECONDS } from '@lipsync/domain';
import {
  deleteExpiredFeatures,
  deleteUnnamedObject,
  type FeatureObjectId,
  findUnnamedObjects,
} from '../features/feature-objects';
import { type Db, transaction } from '../postgres/db';
import { deleteOldUsage } from '../usage/run-usage';
import { eachCandidate } from './each-candidate';
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

type PurgedKind = Purgeable['kind'] | 'feature';

export interface PurgeOptions {
  storage: {
    /** Deletes objects; missing keys are not an error. Makes no further attempt once the signal is aborted. */
    delete(keys: readonly string[], options?: { signal?: AbortSignal }): Promise<void>;
    /** All keys with this prefix. */
    list(prefix: string): AsyncIterable<string>;
  };
  keys: ObjectKeys;
  /**
   * No further resource is begun after this, so that slow storage cannot make a call endless. Nor is a further part, once
   * one has failed: a database that hangs must not block one after the other.
   */
  budgetMs?: number;
  /** Resources per kind and call. */
  limit?: number;
  /** For how many months the usage of ended runs is kept, at least 12; for ever by default. */
  usageMonths?: number;
  /** Once aborted, no further resource is begun. */
  stopping?: AbortSignal;
  /** Called for each resource, and for each object of a feature, whose bytes are gone. */
  onPurged?: (kind: PurgedKind) => void;
}

export interface PurgeReport {
  /** Expired resources and unused features whose bytes are now gone. */
  purged: number;
  /** Rows deleted for good. */
  deletedRows: number;
  errors: unknown[];
  /** The next call would find more work at once, and this call made progress. */
  more: boolean;
}

/** Resources per kind and call. */
const LIMIT = 200;
const BUDGET_MS = 20_000;

/**
 * Deletes the rows of resources that expired long enough ago, and expired features, idempotency keys, workers and
 * usage; then deletes the bytes of expired resources. Objects go first: a row is marked only after its objects are gone,
 * so a crash in between repeats the deletion and never leaks an object. Assets that an open record uses are kept until it
 * ends. Each call handles at least one resource unless it is told to stop; the next call continues with the rest. If a
 * part fails, the failure is reported and the other parts still run.
 */
export async function purge(db: Db, options: PurgeOptions): Promise<PurgeReport> {
  const {
    storage,
    keys,
    budgetMs = BUDGET_MS,
    limit = LIMIT,
    usageMonths,
    stopping,
    onPurged = () => undefined,
  } = options;
  const errors: unknown[] = [];
  const endsAtMs = performance.now() + budgetMs;
  const attempt = async <T>(part: () => Promise<T>, otherwise: T): Promise<T> => {
    if (errors.length > 0 && performance.now() > endsAtMs) return otherwise;
    try {
      return await part();
    } catch (error) {
      errors.push(error);
      return otherwise;
    }
  };
  const deletedFeatures = await attempt(() => deleteExpiredFeatures(db, limit), 0);
  const expiredKeys = await attempt(() => deleteExpiredKeys(db, limit), 0);
  const silentWorkers = await attempt(() => deleteSilentWorkers(db), 0);
  const oldUsage =
    usageMonths === undefined ? 0 : await attempt(() => deleteOldUsage(db, usageMonths, limit), 0);
  const tombstones = await attempt(() => deleteTombstones(db, TOMBSTONE_SECONDS, limit), {
    rows: 0,
    more: false,
  });
  const kinds: Purgeable[][] = [
    await attempt(() => findPurgeableRenders(db, keys, limit), []),
    await attempt(() => findPurgeablePreparations(db, limit), []),
    await attempt(() => findPurgeableUploads(db, limit), []),
    await attempt(() => findPurgeableAssets(db, keys, limit), []),
  ];
  const unnamed = await attempt(() => findUnnamedObjects(db, limit), []);
  const purgeResource = async (item: Purgeable): Promise<boolean> => {
    if (stopping?.aborted === true || !(await confirmPurgeable(db, item))) return false;
    const objects = new Set(item.objectKeys);
    if (item.prefix !== undefined) for await (const key of storage.list(item.prefix)) objects.add(key);
    if (objects.size > 0) await storage.delete([...objects]);
    await markPurged(db, item);
    onPurged(item.kind);
    return true;
  };
  const purgeObject = async (object: FeatureObjectId): Promise<boolean> => {
    if (stopping?.aborted === true) return false;
    const deleted = await deleteUnnamedObject(db, object, (signal) =>
      storage.delete([keys.featureKey(object)], { signal }),
    );
    if (deleted) onPurged('feature');
    return deleted;
  };

  const purged =
    (await eachCandidate(kinds.flat(), purgeResource, errors, endsAtMs)) +
    (await eachCandidate(unnamed, purgeObject, errors, endsAtMs));
  const isCutShort = performance.now() > endsAtMs || stopping?.aborted === true;
  const more = isCutShort || [...kinds, unnamed].some(({ length }) => length === limit);
  return {
    purged,
    deletedRows: deletedFeatures + tombstones.rows + expiredKeys + silentWorkers + oldUsage,
    errors,
    more: (more && purged > 0) || tombstones.more || [deletedFeatures, expiredKeys, oldUsage].includes(limit),
  };
}

const SILENT_WORKER_SECONDS = 86_400;

interface DeletedTombstones {
  /** Rows of all tables. */
  readonly rows: number;
  /** There were at least `limit` resources of a kind, so there may be more. */
  readonly more: boolean;
}

/**
 * Deletes resources that expired `afterSeconds` ago and have no bytes left, with all their dependent rows, at most
 * `limit` of each kind.
 */
function deleteTombstones(db: Db, afterSeconds: number, limit: number): Promise<DeletedTombstones> {
  return transaction(db, async (tx) => {
    const [{ before } = { before: new Date(0) }] = await tx.$queryRaw<{ before: Date }[]>`
      SELECT now() - make_interval(secs => ${afterSeconds}::float8) AS before`;
    const gone = { expiresAt: { lt: before }, purgedAt: { not: null } };
    const page = { where: gone, select: { id: true }, orderBy: { expiresAt: 'asc' }, take: limit } as const;
    const idsOf = (rows: { id: string }[]): { in: string[] } => ({ in: rows.map((row) => row.id) });

    const renderId = idsOf(await tx.render.findMany(page));
    const engineRunId = idsOf(await tx.engineRun.findMany({ where: { renderId }, select: { id: true } }));
    const preparationId = idsOf(await tx.preparation.findMany(page));
    const assetId = idsOf(await tx.asset.findMany(page));
    // An event was created when its record ended, so it expires after the record.
    const late = { where: { expiresAt: { lt: before } }, select: { id: true }, take: limit };
    const eventId = idsOf(await tx.webhookEvent.findMany(late));

    const deletions = [
      await tx.webhookDelivery.deleteMany({ where: { eventId } }),
      await tx.webhookEvent.deleteMany({ where: { id: eventId } }),
      await tx.job.deleteMany({ where: { OR: [{ engineRunId }, { preparationId }, { assetId }] } }),
      await tx.engineRun.deleteMany({ where: { renderId } }),
      await tx.render.deleteMany({ where: { id: renderId } }),
      await tx.preparation.deleteMany({ where: { id: preparationId } }),
      await tx.upload.deleteMany({ where: { assetId, purgedAt: { not: null } } }),
      await tx.asset.deleteMany({ where: { id: assetId } }),
    ];
    return {
      rows: deletions.reduce((sum, { count }) => sum + count, 0),
      more: [renderId, preparationId, assetId, eventId].some((ids) => ids.in.length === limit),
    };
  });
}

/** Deletes expired idempotency keys, oldest expiry first. */
function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM idempotency_keys WHERE (customer_id, key) IN (
      SELECT customer_id, key FROM idempotency_keys
      WHERE expires_at < now() ORDER BY expires_at LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    )`;
}

/** Deletes workers that left, or fell silent, long ago. */
function deleteSilentWorkers(db: Db): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM workers WHERE seen_at < now() - make_interval(secs => ${SILENT_WORKER_SECONDS}::float8)`;
}
