import { type ErrorCode } from '@lipsync/contract';
import { MAX_ATTEMPTS, UPLOAD_COMPLETE_GRACE_SECONDS } from '@lipsync/domain';
import { endPreparation, failOpenRuns } from '../jobs/end-records';
import { failSubject, requeue } from '../jobs/fail';
import { lockPreparation, lockRender, lockSubject, type RecoveredJob, recoveredJob } from '../jobs/job';
import { databaseNow, type Db, transaction } from '../postgres/db';
import { QUEUE_NAMES, type QueueName } from '../queue/queues';
import { servedQueues } from '../queue/workers';

/** A record or job that must not wait any longer. */
export interface Overdue {
  kind: 'render' | 'preparation' | 'job';
  id: string;
  errorCode: ErrorCode;
}

/** Records that are still open after their deadline or their own expiry, and ingests that nothing else would end. */
export function findOverdueRecords(db: Db, deadlineSeconds: number, limit: number): Promise<Overdue[]> {
  return db.prisma.$queryRaw<Overdue[]>`
    WITH bound AS (SELECT clock_timestamp() - make_interval(secs => ${deadlineSeconds}::float8) AS earliest)
    SELECT kind, id, 'deadline_exceeded' AS "errorCode" FROM (
      SELECT 'render' AS kind, id FROM renders, bound
      WHERE completed_at IS NULL AND (created_at < earliest OR expires_at < now())
      UNION ALL
      SELECT 'preparation', id FROM preparations, bound
      WHERE completed_at IS NULL AND (created_at < earliest OR expires_at < now())
      UNION ALL
      SELECT 'job', id FROM jobs, bound
      WHERE queue = 'media' AND kind = 'ingest' AND status IN ('queued', 'running') AND created_at < earliest
    ) AS overdue LIMIT ${limit}::int`;
}

/** Jobs that have been due for longer than this, while no worker served their queue in all that time. */
export async function findUnserved(db: Db, deadlineSeconds: number, limit: number): Promise<Overdue[]> {
  // Ingests just wait if there is no media-worker: URLs and uploads are accepted without one, too.
  const served = new Set<QueueName>(['media', ...(await servedQueues(db.prisma, deadlineSeconds))]);
  const unserved = QUEUE_NAMES.filter((queue) => !served.has(queue));
  return db.prisma.$queryRaw<Overdue[]>`
    SELECT 'job' AS kind, id, 'engine_unavailable' AS "errorCode" FROM jobs
    WHERE queue = ANY(${unserved}) AND status = 'queued'
      AND available_at < clock_timestamp() - make_interval(secs => ${deadlineSeconds}::float8)
    ORDER BY available_at LIMIT ${limit}::int`;
}

/** Fails it, unless it has ended in the meantime. */
export function failOverdue(db: Db, { kind, id, errorCode }: Overdue): Promise<boolean> {
  const failure = { errorCode };
  return transaction(db, async (tx) => {
    switch (kind) {
      case 'render': {
        const render = await lockRender(tx, id);
        if (render === null || render.completedAt !== null) return false;
        await failOpenRuns(db, tx, render, failure, await databaseNow(tx));
        return true;
      }
      case 'preparation': {
        const preparation = await lockPreparation(tx, id);
        if (preparation === null || preparation.completedAt !== null) return false;
        await endPreparation(db, tx, preparation, { status: 'failed', failure }, await databaseNow(tx));
        return true;
      }
      case 'job': {
        const subject = await lockSubject(tx, id);
        if (subject === null || subject.job.status === 'finished') return false;
        // A job that has started after all is no longer unserved.
        if (errorCode === 'engine_unavailable' && subject.job.status !== 'queued') return false;
        await failSubject(db, tx, subject, failure, await databaseNow(tx));
        return true;
      }
    }
  });
}

/** Running jobs whose worker has been silent for longer than its lease. */
export async function findExpiredLeases(db: Db, limit: number): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM jobs WHERE status = 'running' AND lease_until < clock_timestamp()
    ORDER BY lease_until LIMIT ${limit}::int`;
  return rows.map(({ id }) => id);
}

/**
 * Requeues an abandoned job; after its last attempt its subject fails with worker_lost. Returns null if it is not
 * abandoned.
 */
export function recoverJob(db: Db, jobId: string): Promise<RecoveredJob | null> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, jobId);
    if (subject === null) return null;
    const now = await databaseNow(tx);
    const { status, leaseUntil, attempts } = subject.job;
    if (status !== 'running' || leaseUntil === null || leaseUntil >= now) return null;
    if (attempts >= MAX_ATTEMPTS) {
      await failSubject(db, tx, subject, { errorCode: 'worker_lost' }, now);
      return recoveredJob(subject, 'failed');
    }
    await requeue(tx, subject, { now, availableAt: now, errorCode: 'worker_lost', refundAttempt: false });
    return recoveredJob(subject, 'requeued');
  });
}

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
