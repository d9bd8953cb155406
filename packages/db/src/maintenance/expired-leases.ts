import { MAX_ATTEMPTS } from '@lipsync/domain';
import { requeue } from '../jobs/fail';
import { failSubject } from '../jobs/fail-subject';
import { lockSubject } from '../jobs/job';
import { type RecoveredJob, recoveredJob } from '../jobs/job-identity';
import { databaseNow } from '../postgres/database-clock';
import { type Db, transaction } from '../postgres/db';

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
