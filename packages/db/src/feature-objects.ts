import { type Db, type Tx, transaction } from './db';
import { type FeatureKey } from './feature-row';

/** Where the bytes of a feature lie: two names of one video with the same bytes share an object. */
export interface FeatureObjectId {
  readonly customerId: string;
  readonly videoSha256: string;
  readonly sha256: string;
}

/** How long an object stays that nobody names: for its writer to name it, and for those who still read it. */
const UNNAMED_SECONDS = 3_600;

/**
 * Announces an object before it is written, so that whatever becomes of its writer, the purge knows of it. It is left
 * alone for an hour from now.
 */
export async function expectObject(db: Db, object: FeatureObjectId, sizeBytes: number): Promise<void> {
  const { customerId, videoSha256, sha256 } = object;
  await db.prisma.$executeRaw`
    INSERT INTO feature_objects AS object (customer_id, video_sha256, sha256, size_bytes, kept_until)
    VALUES (${customerId}, ${videoSha256}, ${sha256}, ${sizeBytes}::bigint,
      clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8))
    ON CONFLICT (customer_id, video_sha256, sha256)
    DO UPDATE SET kept_until = GREATEST(object.kept_until, EXCLUDED.kept_until)`;
}

/** A feature names it from now on, which is what keeps it. False: it was not announced, or purged meanwhile. */
export function nameObject(tx: Tx, key: FeatureKey, sha256: string): Promise<boolean> {
  return keepFor(tx, { ...key, sha256 }, 0);
}

/** It is not the feature's any more, but somebody may just have been told to fetch it. */
export async function keepForReaders(tx: Tx, key: FeatureKey, sha256: string): Promise<void> {
  await keepFor(tx, { ...key, sha256 }, UNNAMED_SECONDS);
}

async function keepFor(tx: Tx, object: FeatureObjectId, seconds: number): Promise<boolean> {
  const { customerId, videoSha256, sha256 } = object;
  const kept = await tx.$executeRaw`
    UPDATE feature_objects SET kept_until = clock_timestamp() + make_interval(secs => ${seconds}::float8)
    WHERE customer_id = ${customerId} AND video_sha256 = ${videoSha256} AND sha256 = ${sha256}`;
  return kept === 1;
}

/** Objects that no feature names and nobody waits for. */
export function findUnnamedObjects(db: Db, limit: number): Promise<FeatureObjectId[]> {
  return db.prisma.$queryRaw<FeatureObjectId[]>`
    SELECT customer_id AS "customerId", video_sha256 AS "videoSha256", sha256 FROM feature_objects AS object
    WHERE kept_until < clock_timestamp() AND NOT EXISTS (
      SELECT FROM features
      WHERE features.customer_id = object.customer_id AND features.video_sha256 = object.video_sha256
        AND features.sha256 = object.sha256
    )
    ORDER BY kept_until LIMIT ${limit}::int`;
}

/**
 * Deletes an object by `remove` and then forgets it, under its lock: whoever announces the same bytes anew meanwhile
 * waits, and writes them after they were deleted. False: it is named or waited for again.
 */
export function deleteUnnamedObject(
  db: Db,
  object: FeatureObjectId,
  remove: () => Promise<void>,
): Promise<boolean> {
  const { customerId, videoSha256, sha256 } = object;
  return transaction(db, async (tx) => {
    const due = await tx.$queryRaw<unknown[]>`
      SELECT sha256 FROM feature_objects
      WHERE customer_id = ${customerId} AND video_sha256 = ${videoSha256} AND sha256 = ${sha256}
        AND kept_until < clock_timestamp()
      FOR UPDATE`;
    // A statement of its own, to see what was committed while this one waited for the lock.
    const names = await tx.feature.count({ where: { customerId, videoSha256, sha256 } });
    if (due.length === 0 || names > 0) return false;
    await remove();
    await tx.featureObject.delete({
      where: { customerId_videoSha256_sha256: { customerId, videoSha256, sha256 } },
    });
    return true;
  });
}

/** Deletes features that no record may use any more; their objects are unnamed then. */
export function deleteExpiredFeatures(db: Db, limit: number): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM features WHERE (customer_id, video_sha256, name) IN (
      SELECT customer_id, video_sha256, name FROM features
      WHERE expires_at < clock_timestamp() ORDER BY expires_at LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    )`;
}
