import { type Db, reconcile } from '@lipsync/db';
import { type Queues } from '@lipsync/queue';
import { type Logger } from '@lipsync/runtime';

/** One round of reconciliation; true when it put jobs back in line. Logs what it found, and nothing when all is well. */
export async function reconcileOnce(
  db: Db,
  queues: Pick<Queues, 'isQueued'>,
  logger: Logger,
  options: { unservedSeconds: number },
): Promise<boolean> {
  const report = await reconcile(db, {
    ...options,
    isInQueue: (queue, jobId, dispatchSeq) => queues.isQueued(queue, jobId, dispatchSeq),
  });
  const { requeued, workerLost, withdrawn, expiredUploads, overdue, errors } = report;
  if (requeued + workerLost + withdrawn + expiredUploads + overdue > 0) {
    const found = { requeued, worker_lost: workerLost, withdrawn, expired_uploads: expiredUploads, overdue };
    logger.wide('reconcile', { ...found, errors: errors.length });
  }
  if (errors.length > 0) throw errors[0];
  return requeued + withdrawn > 0;
}
