import { type Db, reconcile } from '@lipsync/db';
import { type Queues } from '@lipsync/queue';
import { type Logger } from '@lipsync/runtime';
import { type Metrics } from '@lipsync/telemetry';
import { tellRecovered } from '@lipsync/worker';

/**
 * One round of reconciliation; true when it requeued jobs. Counts and logs what it found, and logs each job whose
 * worker was lost on a line of its own.
 */
export async function reconcileOnce(
  db: Db,
  queues: Pick<Queues, 'isQueued'>,
  options: { logger: Logger; metrics: Metrics; unservedSeconds: number },
): Promise<boolean> {
  const { logger, metrics, unservedSeconds } = options;
  const actions = metrics.counter('reconciler_actions_total');
  const report = await reconcile(db, {
    unservedSeconds,
    isInQueue: (queue, jobId, dispatchSeq) => queues.isQueued(queue, jobId, dispatchSeq),
    onRecovered: (job) => tellRecovered(logger, job),
  });
  const { requeued, workerLost, forgotten, unserved, expiredUploads, overdue, errors } = report;
  actions.inc({ action: 'expired_lease' }, requeued);
  actions.inc({ action: 'given_up' }, workerLost);
  actions.inc({ action: 'rering' }, forgotten);
  actions.inc({ action: 'unserved' }, unserved);
  actions.inc({ action: 'expired_upload' }, expiredUploads);
  actions.inc({ action: 'deadline' }, overdue);
  if (requeued + workerLost + forgotten + unserved + expiredUploads + overdue > 0) {
    const queued = { requeued, forgotten, unserved };
    const found = { ...queued, worker_lost: workerLost, expired_uploads: expiredUploads, overdue };
    logger.wide('reconcile', { ...found, errors: errors.length });
  }
  if (errors.length > 0) throw errors[0];
  return requeued + forgotten + unserved > 0;
}
