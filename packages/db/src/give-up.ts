import { type ErrorCode } from '@lipsync/contract';
import { MAX_ATTEMPTS } from '@lipsync/domain';
import { databaseNow, secondsAfter } from './database-clock';
import { transaction, type Db, type Tx } from './db';
import { endPreparation } from './end-preparation';
import { settleRender } from './end-render';
import { type JobSubject, lockSubject } from './job-subject';
import { finishJobs, isHeld, type Lease, requeueJob } from './lease';
import { failWaiting } from './waiting-records';

/**
 * Hands a job back unfinished because its worker is shutting down: queued again at once, and the attempt is refunded,
 * for it was not the job's fault. False: it was not ours any more.
 */
export function releaseJob(db: Db, lease: Lease): Promise<boolean> {
  return whileHeld(db, lease, false, async (tx, _subject, now) => {
    await requeueJob(tx, lease.jobId, { availableAt: now, errorCode: null, refundAttempt: true });
    return true;
  });
}

/**
 * Lets a failed attempt be repeated after a delay. The last one that counts ends the job, and its subject fails with the
 * code; one that is refunded does not count.
 */
export function retryJob(
  db: Db,
  lease: Lease,
  failure: { errorCode: ErrorCode; delaySeconds: number; refundAttempt: boolean },
): Promise<'requeued' | 'failed' | 'lost'> {
  return whileHeld<'requeued' | 'failed' | 'lost'>(db, lease, 'lost', async (tx, subject, now) => {
    const { errorCode, refundAttempt } = failure;
    if (!refundAttempt && subject.job.attempts >= MAX_ATTEMPTS) {
      await failSubject(db, tx, subject, errorCode, now);
      return 'failed';
    }
    const availableAt = secondsAfter(now, failure.delaySeconds);
    await requeueJob(tx, lease.jobId, { availableAt, errorCode, refundAttempt });
    return 'requeued';
  });
}

/** Ends a job whose subject cannot succeed: asset, preparation or engine run fail, and with them what depends on it. */
export function failJob(db: Db, lease: Lease, errorCode: ErrorCode): Promise<boolean> {
  return whileHeld(db, lease, false, async (tx, subject, now) => {
    await failSubject(db, tx, subject, errorCode, now);
    return true;
  });
}

/** Fails what a locked job works on. */
export async function failSubject(
  db: Db,
  tx: Tx,
  subject: JobSubject,
  errorCode: ErrorCode,
  now: Date,
): Promise<void> {
  const failed = { status: 'failed', stage: 'failed', errorCode, updatedAt: now };
  await finishJobs(tx, [subject.job.id], errorCode);
  switch (subject.kind) {
    case 'ingest':
      await tx.asset.update({ where: { id: subject.asset.id }, data: failed });
      return failWaiting(db, tx, subject.asset.id, errorCode, now);
    case 'analyze':
      return endPreparation(db, tx, subject.preparation, { status: 'failed', errorCode }, now);
    case 'render':
      await tx.engineRun.update({ where: { id: subject.run.id }, data: failed });
      return settleRender(db, tx, subject.render, now);
  }
}

/** Runs `change` under the locks of the job's subject if the claim still holds, else returns `otherwise`. */
export function whileHeld<T>(
  db: Db,
  lease: Lease,
  otherwise: T,
  change: (tx: Tx, subject: JobSubject, now: Date) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, lease.jobId);
    if (subject === null || !isHeld(subject.job, lease)) return otherwise;
    return change(tx, subject, await databaseNow(tx));
  });
}
