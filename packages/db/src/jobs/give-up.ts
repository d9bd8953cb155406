import { type ErrorCode } from '@lipsync/contract';
import { MAX_ATTEMPTS } from '@lipsync/domain';
import { secondsAfter } from '../postgres/database-clock';
import { type Db } from '../postgres/db';
import { failSubject } from './fail-subject';
import { type Lease, requeueJob } from './lease';
import { whileHeld } from './while-held';

/**
 * Hands back an unfinished job because its worker is shutting down. The job is queued again at once and the attempt
 * refunded, because the job was not at fault. Returns false if the claim was lost.
 */
export function releaseJob(db: Db, lease: Lease): Promise<boolean> {
  return whileHeld(db, lease, false, async (tx, _subject, now) => {
    await requeueJob(tx, lease.jobId, { availableAt: now, errorCode: null, refundAttempt: true });
    return true;
  });
}

/**
 * Ends a failed attempt and retries the job after a delay. If no attempt is left, the job ends and its subject fails
 * with the code. A refunded attempt does not count.
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

/** Ends a job whose subject cannot succeed: fails the asset, preparation or engine run, and whatever depends on it. */
export function failJob(db: Db, lease: Lease, errorCode: ErrorCode): Promise<boolean> {
  return whileHeld(db, lease, false, async (tx, subject, now) => {
    await failSubject(db, tx, subject, errorCode, now);
    return true;
  });
}
