import { UPLOAD_COMPLETE_GRACE_SECONDS } from '@lipsync/domain';
import { databaseNow } from '../postgres/database-clock';
import { type Db, transaction } from '../postgres/db';

/** Uploads that were not completed while that was possible. The condition matches that of `uploads_waiting_idx`. */
export async function findStaleUploads(db: Db, limit: number): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM uploads
    WHERE status = 'awaiting_upload' AND completed_at IS NULL
      AND expires_at <= now() - make_interval(secs => ${UPLOAD_COMPLETE_GRACE_SECONDS}::float8)
    ORDER BY expires_at LIMIT ${limit}::int`;
  return rows.map(({ id }) => id);
}

/**
 * Expires such an upload. Its asset fails with upload_expired. Nothing can wait for that asset, because it was never
 * pending.
 */
export function expireUpload(db: Db, uploadId: string): Promise<boolean> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM uploads WHERE id = ${uploadId} FOR UPDATE`;
    const where = { id: uploadId, status: 'awaiting_upload' };
    const [upload] = await tx.upload.updateManyAndReturn({ where, data: { status: 'expired' } });
    if (upload === undefined) return false;
    const data = {
      status: 'failed',
      stage: 'failed',
      errorCode: 'upload_expired',
      updatedAt: await databaseNow(tx),
    };
    await tx.asset.update({ where: { id: upload.assetId }, data });
    return true;
  });
}
