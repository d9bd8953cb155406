import { type ErrorCode } from '@lipsync/contract';
import { type Failure, MAX_ATTEMPTS } from '@lipsync/domain';
import { type Db, secondsAfter, type Tx } from '../postgres/db';
import { endPreparation, settleRender } from './end-records';
import { finishJobs, type JobSubject, type Lease, withLease } from './job';
import { advancePreparation, advanceRenderByRuns } from './progress';
import { failWaiting } from './waiting-records';

/**
 * Hands back an unfinished job because its worker is shutting down. The job is queued again at once and the attempt
 * refunded, because the job was not at fault. Returns false if the claim was lost.
 */
export function releaseJob(db: Db, lease: Lease): Promise<boolean> {
  return withLease(db, lease, false, async (tx, subject, now) => {
    await requeue(tx, subject, { now, availableAt: now, errorCode: null, refundAttempt: true });
    return true;
  });
}

/**
 * Ends a failed attempt and retries the job after a delay. If no attempt is left, the job ends and its subject fails
 * with this failure. A refunded attempt does not count.
 */
export function retryJob(
  db: Db,
  lease: Lease,
  { delaySeconds, refundAttempt, ...failure }: Failure & { delaySeconds: number; refundAttempt: boolean },
): Promise<'requeued' | 'failed' | 'lost'> {
  return withLease<'requeued' | 'failed' | 'lost'>(db, lease, 'lost', async (tx, subject, now) => {
    if (!refundAttempt && subject.job.attempts >= MAX_ATTEMPTS) {
      await failSubject(db, tx, subject, failure, now);
      return 'failed';
    }
    const availableAt = secondsAfter(now, delaySeconds);
    await requeue(tx, subject, { now, availableAt, errorCode: failure.errorCode, refundAttempt });
    return 'requeued';
  });
}

/** Ends a job whose subject cannot succeed: fails the asset, preparation or engine run, and whatever depends on it. */
export function failJob(
  db: Db,
  lease: Lease,
  errorCode: ErrorCode,
  errorDetail: string | null = null,
): Promise<boolean> {
  return withLease(db, lease, false, async (tx, subject, now) => {
    await failSubject(db, tx, subject, { errorCode, errorDetail }, now);
    return true;
  });
}

/**
 * Queues a locked, running job again, to be enqueued from `availableAt`, and shows the customer that its work waits for
 * a slot.
 */
export async function requeue(
  tx: Tx,
  subject: JobSubject,
  change: { now: Date; availableAt: Date; errorCode: ErrorCode | null; refundAttempt: boolean },
): Promise<void> {
  const { now, availableAt, errorCode, refundAttempt } = change;
  await tx.$executeRaw`
    UPDATE jobs
    SET status = 'queued', lease_until = NULL, enqueued_at = NULL, worker_id = NULL,
        available_at = ${availableAt}, attempts = attempts - ${refundAttempt ? 1 : 0}::int,
        last_error_code = COALESCE(${errorCode}, last_error_code)
    WHERE id = ${subject.job.id}`;
  const waiting = { stage: 'queued', updatedAt: now };
  switch (subject.kind) {
    case 'ingest':
      await tx.asset.update({ where: { id: subject.asset.id }, data: waiting });
      return;
    case 'analyze':
      return advancePreparation(tx, subject.preparation, 'queued', 0, now);
    case 'render':
      await tx.engineRun.update({ where: { id: subject.run.id }, data: waiting });
      return advanceRenderByRuns(tx, subject.render, now);
  }
}

/** Fails the subject of a locked job. */
export async function failSubject(
  db: Db,
  tx: Tx,
  subject: JobSubject,
  failure: Failure,
  now: Date,
): Promise<void> {
  const failed = { status: 'failed', stage: 'failed', ...failure, updatedAt: now };
  await finishJobs(tx, [subject.job.id], failure.errorCode);
  switch (subject.kind) {
    case 'ingest':
      await tx.asset.update({ where: { id: subject.asset.id }, data: failed });
      return failWaiting(db, tx, subject.asset.id, failure, now);
    case 'analyze':
      return endPreparation(db, tx, subject.preparation, { status: 'failed', failure }, now);
    case 'render':
      await tx.engineRun.update({ where: { id: subject.run.id }, data: failed });
      return settleRender(db, tx, subject.render, now);
  }
}
