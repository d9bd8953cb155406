import { type Db, transaction } from '../postgres/db';

const SILENT_WORKER_SECONDS = 86_400;

export interface DeletedTombstones {
  /** Rows of all tables. */
  readonly rows: number;
  /** There were at least `limit` resources of a kind, so there may be more. */
  readonly more: boolean;
}

/**
 * Deletes resources that expired `afterSeconds` ago and have no bytes left, with all their dependent rows; of each kind
 * at most `limit`.
 */
export function deleteTombstones(db: Db, afterSeconds: number, limit: number): Promise<DeletedTombstones> {
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
export function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM idempotency_keys WHERE (customer_id, key) IN (
      SELECT customer_id, key FROM idempotency_keys
      WHERE expires_at < now() ORDER BY expires_at LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    )`;
}

/** Deletes workers that said farewell, or nothing at all, long ago. */
export function deleteSilentWorkers(db: Db): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM workers WHERE seen_at < now() - make_interval(secs => ${SILENT_WORKER_SECONDS}::float8)`;
}
