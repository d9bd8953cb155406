import { Prisma } from '@lipsync/prisma';
import { type Db, transaction } from '../postgres/db';

/** Identifies the object that stores a feature's bytes. Features of one video with the same bytes share an object. */
export interface FeatureObjectId {
  readonly customerId: string;
  readonly videoSha256: string;
  readonly sha256: string;
}

/** How long an unreferenced object is kept: for its writer to publish it, and for readers that still fetch it. */
export const UNNAMED_SECONDS = 3_600;
/** Objects examined per round. Those whose feature was used again are among them. */
const LOOK = 10_000;
/**
 * A deletion is abandoned this long after its transaction began. That is half of the time after which the transaction,
 * and its lock, is ended, so that storage has finished what it was told to do by then.
 */
const REMOVE_MS = 15_000;

/** The customer is there, and is not being erased: nothing may be kept for it any more. */
export const KEEPS_FEATURES = (customerId: string): Prisma.Sql =>
  Prisma.sql`EXISTS (SELECT FROM customers WHERE id = ${customerId} AND state <> 'erasing')`;

/**
 * Registers an object before it is written, so that the purge finds it even if its writer dies. The purge leaves it
 * alone for an hour from now. Rejects for a customer that is being erased, so that nothing is written.
 */
export async function registerObject(db: Db, object: FeatureObjectId, sizeBytes: number): Promise<void> {
  const { customerId, videoSha256, sha256 } = object;
  const registered = await db.prisma.$executeRaw`
    INSERT INTO feature_objects AS object (customer_id, video_sha256, sha256, size_bytes, kept_until)
    SELECT ${customerId}::text, ${videoSha256}::text, ${sha256}::text, ${sizeBytes}::bigint,
      clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8)
    WHERE ${KEEPS_FEATURES(customerId)}
    ON CONFLICT (customer_id, video_sha256, sha256)
    DO UPDATE SET kept_until = GREATEST(object.kept_until, EXCLUDED.kept_until)`;
  if (registered === 0) throw new Error('the customer is being erased');
}

/**
 * Objects that no feature references and that are no longer kept for writers or readers. If an object is due but still
 * referenced, because its feature was used again, its expiry moves to that of the feature. Otherwise each round would
 * begin with all objects that are in use.
 */
export function findUnnamedObjects(db: Db, limit: number): Promise<FeatureObjectId[]> {
  return db.prisma.$queryRaw<FeatureObjectId[]>`
    WITH due AS MATERIALIZED (
      SELECT customer_id, video_sha256, sha256, kept_until, (
        SELECT max(expires_at) FROM features
        WHERE features.customer_id = object.customer_id AND features.video_sha256 = object.video_sha256
          AND features.sha256 = object.sha256
      ) AS named_until
      FROM feature_objects AS object
      WHERE kept_until < now() ORDER BY kept_until LIMIT ${LOOK}::int
      FOR UPDATE SKIP LOCKED
    ), kept AS (
      UPDATE feature_objects AS object SET kept_until = named_until FROM due
      WHERE (object.customer_id, object.video_sha256, object.sha256) = (due.customer_id, due.video_sha256, due.sha256)
        AND named_until > due.kept_until
    )
    SELECT customer_id AS "customerId", video_sha256 AS "videoSha256", sha256 FROM due
    WHERE named_until IS NULL ORDER BY kept_until LIMIT ${limit}::int`;
}

/**
 * Deletes an object with `remove` and then its row, under a lock on the row. A caller that registers the same bytes
 * meanwhile waits, and writes them after they were deleted; so `remove` must stop once its signal is aborted. Returns false
 * if the object is referenced or kept again.
 */
export function deleteUnnamedObject(
  db: Db,
  object: FeatureObjectId,
  remove: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const { customerId, videoSha256, sha256 } = object;
  return transaction(db, async (tx) => {
    const signal = AbortSignal.timeout(REMOVE_MS);
    const due = await tx.$queryRaw<unknown[]>`
      SELECT sha256 FROM feature_objects
      WHERE customer_id = ${customerId} AND video_sha256 = ${videoSha256} AND sha256 = ${sha256}
        AND kept_until < clock_timestamp()
      FOR UPDATE`;
    // A separate statement, to see what was committed while the previous one waited for the lock.
    const names = await tx.feature.count({ where: { customerId, videoSha256, sha256 } });
    if (due.length === 0 || names > 0) return false;
    await remove(signal);
    await tx.featureObject.delete({
      where: { customerId_videoSha256_sha256: { customerId, videoSha256, sha256 } },
    });
    return true;
  });
}

/** Deletes features that no record may use any more. Their objects are unreferenced from then on. */
export function deleteExpiredFeatures(db: Db, limit: number): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM features WHERE (customer_id, video_sha256, name) IN (
      SELECT customer_id, video_sha256, name FROM features
      WHERE expires_at < now() ORDER BY expires_at LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    )`;
}
