import { type Db, type Tx, transaction } from '../postgres/db';
import { type FeatureKey } from './feature-row';

/** Where the bytes of a feature lie: two names of one video with the same bytes share an object. */
export interface FeatureObjectId {
  readonly customerId: string;
  readonly videoSha256: string;
  readonly sha256: string;
}

/** How long an object stays that nobody names: for its writer to name it, and for those who still read it. */
const UNNAMED_SECONDS = 3_600;
/** Objects that a round looks at, named ones among them: earlier releases kept no time for those. */
const LOOK = 10_000;
/**
 * From the beginning of its transaction, a deletion is given up after this: half of the time after which the transaction
 * is ended and the lock with it, so that what storage was told to do is done by then.
 */
const REMOVE_MS = 15_000;

/**
 * Registers an object before it is written, so that whatever becomes of its writer, the purge knows of it. It is left
 * alone for an hour from now.
 */
export async function registerObject(db: Db, object: FeatureObjectId, sizeBytes: number): Promise<void> {
  const { customerId, videoSha256, sha256 } = object;
  await db.prisma.$executeRaw`
    INSERT INTO feature_objects AS object (customer_id, video_sha256, sha256, size_bytes, kept_until)
    VALUES (${customerId}, ${videoSha256}, ${sha256}, ${sizeBytes}::bigint,
      clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8))
    ON CONFLICT (customer_id, video_sha256, sha256)
    DO UPDATE SET kept_until = GREATEST(object.kept_until, EXCLUDED.kept_until)`;
}

/**
 * A feature names it from now on, which is what keeps it; it is not looked at again before that feature expires. False:
 * it was not registered, or purged meanwhile.
 */
export async function nameObject(tx: Tx, key: FeatureKey, sha256: string): Promise<boolean> {
  const { customerId, videoSha256, name } = key;
  const named = await tx.$executeRaw`
    UPDATE feature_objects AS object SET kept_until = feature.expires_at FROM features AS feature
    WHERE object.customer_id = ${customerId} AND object.video_sha256 = ${videoSha256} AND object.sha256 = ${sha256}
      AND feature.customer_id = ${customerId} AND feature.video_sha256 = ${videoSha256} AND feature.name = ${name}`;
  return named === 1;
}

/** It is not the feature's any more, but somebody may just have been told to fetch it. */
export async function keepForReaders(tx: Tx, key: FeatureKey, sha256: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE feature_objects SET kept_until = clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8)
    WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND sha256 = ${sha256}`;
}

/**
 * Objects that no feature names and nobody waits for. What comes up here and is named (its feature was used again since)
 * is not looked at before that feature expires: each round would begin with all that are in use.
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
 * Deletes an object by `remove` and then forgets it, under its lock: whoever registers the same bytes anew meanwhile
 * waits, and writes them after they were deleted. So `remove` must not go on once its signal is aborted. False: it is
 * named or waited for again.
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
    // A statement of its own, to see what was committed while this one waited for the lock.
    const names = await tx.feature.count({ where: { customerId, videoSha256, sha256 } });
    if (due.length === 0 || names > 0) return false;
    await remove(signal);
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
      WHERE expires_at < now() ORDER BY expires_at LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    )`;
}
