import { SIGNED_URL_SECONDS, UPLOAD_COMPLETE_GRACE_SECONDS } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { type FeatureObjectId } from '../features/feature-objects';
import { type Db, transaction } from '../postgres/db';

/** An expired resource with every object that it may have left in storage. */
export interface Purgeable {
  kind: 'render' | 'preparation' | 'upload' | 'asset';
  id: string;
  objectKeys: string[];
  /**
   * Everything else under this prefix belongs to the resource too, because attempts at an asset choose their keys at
   * random.
   */
  prefix?: string;
}

/** Where a claim of a job writes its result. Lost attempts may have left objects there. */
export interface ObjectKeys {
  outputKey: (engineRunId: string, fence: number) => string;
  /** The prefix of all attempts at the asset. */
  assetPrefix: (assetId: string) => string;
  featureKey: (object: FeatureObjectId) => string;
}

/** No open record refers to `asset`. */
const UNUSED_ASSET = Prisma.sql`
  NOT EXISTS (
    SELECT FROM renders
    WHERE (renders.video_asset_id = asset.id OR renders.audio_asset_id = asset.id)
      AND renders.status IN ('accepted', 'processing')
  )
  AND NOT EXISTS (
    SELECT FROM preparations
    WHERE preparations.video_asset_id = asset.id AND preparations.status IN ('accepted', 'processing')
  )`;

/** Expired renders, once no download URL is valid that was signed while the record could still be read. */
export async function findPurgeableRenders(db: Db, keys: ObjectKeys, limit: number): Promise<Purgeable[]> {
  const traces = await db.prisma.$queryRaw<{ id: string; runId: string; fence: number }[]>`
    WITH expired AS (
      SELECT id FROM renders
      WHERE expires_at < now() - make_interval(secs => ${SIGNED_URL_SECONDS}::float8)
        AND purged_at IS NULL AND completed_at IS NOT NULL
      ORDER BY expires_at LIMIT ${limit}::int
    )
    SELECT expired.id, run.id AS "runId", job.fence
    FROM expired
    JOIN engine_runs AS run ON run.render_id = expired.id
    JOIN jobs AS job ON job.engine_run_id = run.id`;
  const found = new Map<string, Purgeable>();
  for (const { id, runId, fence } of traces) {
    const item = found.get(id) ?? { kind: 'render', id, objectKeys: [] };
    for (let claim = 1; claim <= fence; claim += 1) item.objectKeys.push(keys.outputKey(runId, claim));
    found.set(id, item);
  }
  return [...found.values()];
}

/** The bytes of a preparation are features, which expire by themselves. Only its row is marked here. */
export async function findPurgeablePreparations(db: Db, limit: number): Promise<Purgeable[]> {
  const rows = await db.prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM preparations
    WHERE expires_at < now() AND purged_at IS NULL AND completed_at IS NOT NULL
    ORDER BY expires_at LIMIT ${limit}::int`;
  return rows.map(({ id }) => ({ kind: 'preparation', id, objectKeys: [] }));
}

/** Staging objects, once no signed URL can write to them and no ingest reads them any more. */
export async function findPurgeableUploads(db: Db, limit: number): Promise<Purgeable[]> {
  const rows = await db.prisma.$queryRaw<{ id: string; key: string }[]>`
    SELECT upload.id, upload.staging_key AS key
    FROM uploads AS upload JOIN assets AS asset ON asset.id = upload.asset_id
    WHERE upload.purged_at IS NULL AND asset.status IN ('ready', 'failed')
      AND upload.expires_at < now() - make_interval(secs => ${UPLOAD_COMPLETE_GRACE_SECONDS}::float8)
    ORDER BY upload.expires_at LIMIT ${limit}::int`;
  return rows.map(({ id, key }) => ({ kind: 'upload', id, objectKeys: [key] }));
}

/**
 * Includes the staging object of an upload again, because a PUT that began before the signed URL expired may have
 * written it after it was deleted.
 */
export async function findPurgeableAssets(db: Db, keys: ObjectKeys, limit: number): Promise<Purgeable[]> {
  const rows = await db.prisma.$queryRaw<{ id: string; key: string | null; stagingKey: string | null }[]>`
    SELECT asset.id, asset.object_key AS key, upload.staging_key AS "stagingKey"
    FROM assets AS asset LEFT JOIN uploads AS upload ON upload.asset_id = asset.id
    WHERE asset.expires_at < now() AND asset.purged_at IS NULL AND asset.status IN ('ready', 'failed')
      AND ${UNUSED_ASSET}
    ORDER BY asset.expires_at LIMIT ${limit}::int`;
  return rows.map(({ id, key, stagingKey }) => ({
    kind: 'asset',
    id,
    objectKeys: [key, stagingKey].filter((each) => each !== null),
    prefix: keys.assetPrefix(id),
  }));
}

/**
 * Says whether the resource is still unused. A request may have referred to an asset just before it expired and commit
 * only now. The lock waits for that request, and none can follow.
 */
export async function confirmPurgeable(db: Db, { kind, id }: Purgeable): Promise<boolean> {
  if (kind !== 'asset') return true;
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM assets WHERE id = ${id} FOR UPDATE`;
    const unused = await tx.$queryRaw<unknown[]>`
      SELECT asset.id FROM assets AS asset WHERE asset.id = ${id} AND ${UNUSED_ASSET}`;
    return unused.length > 0;
  });
}

/** Records that the objects are gone. */
export async function markPurged(db: Db, { kind, id }: Purgeable): Promise<void> {
  await transaction(db, async (tx) => {
    switch (kind) {
      case 'render':
        await tx.$executeRaw`UPDATE renders SET purged_at = now() WHERE id = ${id}`;
        await tx.$executeRaw`UPDATE engine_runs SET output_key = NULL WHERE render_id = ${id}`;
        return;
      case 'preparation':
        await tx.$executeRaw`UPDATE preparations SET purged_at = now() WHERE id = ${id}`;
        return;
      case 'upload':
        await tx.$executeRaw`UPDATE uploads SET purged_at = now() WHERE id = ${id}`;
        return;
      case 'asset':
        await tx.$executeRaw`UPDATE assets SET purged_at = now(), object_key = NULL, stream = NULL WHERE id = ${id}`;
    }
  });
}
