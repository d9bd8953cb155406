import { type Db, enqueueJobs, purge, type QueueName, queuesWithWaitingJobs, reconcile } from '@lipsync/db';
import { createEnqueuer, type Queues } from '@lipsync/queue';
import { type Lifecycle, type Logger } from '@lipsync/runtime';
import { assetPrefix, featureKey, outputKey, type Storage } from '@lipsync/storage';
import { countTurns, type Metrics } from '@lipsync/telemetry';
import { createPeriodicLoop, logRecoveredJob, type PeriodicLoop } from '@lipsync/worker';

const ENQUEUE_EVERY_MS = 500;
const RECONCILE_EVERY_MS = 1_000;
/** Deadlines are minutes away: looking for those that have passed every second would be most of the work at rest. */
const DEADLINES_EVERY_TURNS = 5;

/** What the loops of a media-worker work with. */
interface LoopDeps {
  readonly db: Db;
  readonly queues: Pick<Queues, 'add' | 'isQueued' | 'ping'>;
  readonly storage: Pick<Storage, 'delete' | 'list'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly lifecycle: Pick<Lifecycle, 'onShutdown' | 'stopping'>;
  readonly purgeEveryMs: number;
  /** How long usage is kept. */
  readonly usageMonths: number;
  /** How long a job waits for a worker that serves its queue. */
  readonly unservedSeconds: number;
}

/** What a media-worker does for the whole system, beside its ingests. `lifecycle` stops what has been started. */
export function createLoops(deps: LoopDeps) {
  const { logger, metrics, lifecycle } = deps;
  const loop = (
    name: 'enqueueing' | 'reconciliation' | 'purging',
    everyMs: number,
    turn: () => Promise<void>,
  ): PeriodicLoop => {
    const onTurn = countTurns(metrics, name, everyMs);
    const made = createPeriodicLoop({ name, everyMs, turn, onTurn, logger });
    lifecycle.onShutdown(name, () => made.stop());
    return made;
  };
  const enqueueing = loop('enqueueing', ENQUEUE_EVERY_MS, createEnqueueTurn(deps));
  let turns = 0;
  const reconciliation = loop('reconciliation', RECONCILE_EVERY_MS, async () => {
    const deadlines = turns++ % DEADLINES_EVERY_TURNS === 0;
    if (await reconcileOnce(deps, deadlines)) enqueueing.wake();
  });
  const purging = loop('purging', deps.purgeEveryMs, async () => {
    if (await purgeOnce(deps)) purging.wake();
  });
  const all = [enqueueing, reconciliation, purging];
  return {
    all,
    start: (): void => all.forEach((each) => each.start()),
    /** Looks for jobs to enqueue now. */
    wakeEnqueueing: (): void => enqueueing.wake(),
  };
}

/**
 * One turn enqueues, for every queue, the jobs that its workers can soon take. While Redis is away nothing is enqueued,
 * because no message could be added. Rejects when Redis or the database is away.
 */
function createEnqueueTurn({ db, queues, logger }: LoopDeps): () => Promise<void> {
  const { enqueue } = createEnqueuer<QueueName>({
    choose: (queue) => enqueueJobs(db, queue),
    add: (queue, message) => queues.add(queue, message),
    logger,
  });
  return async () => {
    await queues.ping();
    for (const queue of await queuesWithWaitingJobs(db)) await enqueue(queue);
  };
}

/**
 * One turn of reconciliation; true when it made jobs wait to be enqueued again. Counts and logs what it found, and logs
 * each job whose worker was lost on a line of its own.
 */
async function reconcileOnce(
  { db, queues, logger, metrics, unservedSeconds }: LoopDeps,
  deadlines: boolean,
): Promise<boolean> {
  const actions = metrics.counter('reconciler_actions_total');
  const report = await reconcile(db, {
    unservedSeconds,
    deadlines,
    isInQueue: (queue, jobId, enqueueSeq) => queues.isQueued(queue, jobId, enqueueSeq),
    onRecovered: (job) => logRecoveredJob(logger, job),
  });
  const { requeued, workerLost, forgotten, unserved, expiredUploads, overdue, errors } = report;
  actions.inc({ action: 'expired_lease' }, requeued);
  actions.inc({ action: 'given_up' }, workerLost);
  actions.inc({ action: 'forgotten' }, forgotten);
  actions.inc({ action: 'unserved' }, unserved);
  actions.inc({ action: 'expired_upload' }, expiredUploads);
  actions.inc({ action: 'deadline' }, overdue);
  if (requeued + workerLost + forgotten + unserved + expiredUploads + overdue > 0) {
    logger.wide('reconcile', {
      requeued,
      forgotten,
      unserved,
      worker_lost: workerLost,
      expired_uploads: expiredUploads,
      overdue,
      errors: errors.length,
    });
  }
  if (errors.length > 0) throw errors[0];
  return requeued + forgotten + unserved > 0;
}

/**
 * One turn of deleting what has expired, cut short by a shutdown. Counts and logs what it deleted; returns true when
 * there is more to delete at once.
 */
async function purgeOnce(deps: LoopDeps): Promise<boolean> {
  const { db, storage, logger, metrics, lifecycle, usageMonths } = deps;
  const deleted = metrics.counter('purged_total');
  const { purged, deletedRows, errors, more } = await purge(db, {
    storage,
    keys: { outputKey, assetPrefix, featureKey },
    usageMonths,
    stopping: lifecycle.stopping,
    onPurged: (kind) => deleted.inc({ kind }),
  });
  deleted.inc({ kind: 'row' }, deletedRows);
  if (purged + deletedRows > 0) {
    logger.wide('purge', { purged, deleted_rows: deletedRows, errors: errors.length });
  }
  if (errors.length > 0) throw errors[0];
  return more;
}
