import { type ErrorCode } from '@lipsync/contract';
import { MAX_ATTEMPTS } from '@lipsync/domain';
import { secondsAfter } from '../postgres/database-clock';
import { type Db } from '../postgres/db';
import { failSubject } from './fail-subject';
import { type Lease, requeueJob } from './lease';
import { whileHeld } from './while-held';

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
