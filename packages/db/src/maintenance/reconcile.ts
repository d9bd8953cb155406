import { RECORD_DEADLINE_SECONDS } from '@lipsync/domain';
import { type Db } from '../postgres/db';
import { failOverdue, findOverdueRecords, findUnserved, type Overdue } from './deadlines';
import { eachCandidate } from './each-candidate';
import { expireUpload, findStaleUploads } from './expire-uploads';
import { findExpiredLeases, recoverJob } from './expired-leases';
import { type RecoveredJob } from '../jobs/job-identity';
import { findOpenDispatches, withdrawDispatch } from '../dispatch/lost-dispatches';
import { type QueueName } from '../dispatch/queue-names';
import { secondsSinceGap } from './reconciliation-gap';
import { CAPACITY_SECONDS, servedQueues } from '../dispatch/workers';

export interface ReconcileOptions {
  /** Whether Redis still knows this announcement, waiting or being worked on. Rejects when Redis cannot be asked. */
  isInQueue: (queue: QueueName, jobId: string, dispatchSeq: number) => Promise<boolean>;
  /** How long a job may wait while no worker serves its queue. */
  unservedSeconds: number;
  /**
   * Told of each abandoned job that this call took back, at once: the call may yet reject. At most LIMIT times a call; of
   * several processes one is told of a job.
   */
  onRecovered?: (job: RecoveredJob) => void;
}

export interface ReconcileReport {
  /** Abandoned jobs queued anew. */
  requeued: number;
  /** Abandoned jobs that had no attempt left. */
  workerLost: number;
  /** Announced jobs in line again that Redis had forgotten. */
  forgotten: number;
  /** Announced jobs in line again because no worker serves their queue any more. */
  unserved: number;
  expiredUploads: number;
  /** Records and jobs failed by a deadline. */
  overdue: number;
  /** What kept single candidates from being handled; they come up again at the next call. */
  errors: unknown[];
}

/** Candidates per kind and call. */
const LIMIT = 200;

/**
 * Finds what was lost (workers, announcements) and what waited too long, and puts it right. Every change is a
 * compare-and-set under the same locks as all others, so any number of processes may do this at any time.
 */
export async function reconcile(db: Db, options: ReconcileOptions): Promise<ReconcileReport> {
  const errors: unknown[] = [];
  const recovered: RecoveredJob[] = [];
  /** A look that fails (a statement that takes too long) keeps none of the others from its turn. */
  const found = <T>(looking: Promise<T[]>): Promise<T[]> =>
    looking.catch((error: unknown) => {
      errors.push(error);
      return [];
    });
  await eachCandidate(
    await found(findExpiredLeases(db, LIMIT)),
    async (jobId) => {
      const job = await recoverJob(db, jobId);
      if (job === null) return false;
      recovered.push(job);
      options.onRecovered?.(job);
      return true;
    },
    errors,
  );
  const stale = await found(findStaleUploads(db, LIMIT));
  const expiredUploads = await eachCandidate(stale, (id) => expireUpload(db, id), errors);
  const overdue = await eachCandidate(
    await found(findOverdue(db, options)),
    (item) => failOverdue(db, item),
    errors,
  );
  return {
    requeued: recovered.filter(({ outcome }) => outcome === 'requeued').length,
    workerLost: recovered.filter(({ outcome }) => outcome === 'failed').length,
    ...(await withdrawLost(db, options, errors).catch((error: unknown) => {
      errors.push(error);
      return { forgotten: 0, unserved: 0 };
    })),
    expiredUploads,
    overdue,
    errors,
  };
}

/** Time in which nobody could have been served is held against nothing: after a gap every deadline counts anew. */
async function findOverdue(db: Db, { unservedSeconds }: ReconcileOptions): Promise<Overdue[]> {
  const seconds = await secondsSinceGap(db);
  return [
    ...(seconds < unservedSeconds ? [] : await findUnserved(db, unservedSeconds, LIMIT)),
    ...(seconds < RECORD_DEADLINE_SECONDS
      ? []
      : await findOverdueRecords(db, RECORD_DEADLINE_SECONDS, LIMIT)),
  ];
}

async function withdrawLost(
  db: Db,
  { isInQueue }: ReconcileOptions,
  errors: unknown[],
): Promise<Pick<ReconcileReport, 'forgotten' | 'unserved'>> {
  const open = await findOpenDispatches(db, LIMIT);
  const served = new Set(await servedQueues(db.prisma, CAPACITY_SECONDS));
  // Nobody will take these, and as jobs under way they would use up their customers' shares elsewhere.
  const unserved = open.filter(({ queue }) => !served.has(queue));
  const forgotten: typeof open = [];
  try {
    for (const dispatch of open.filter(({ queue }) => served.has(queue))) {
      if (!(await isInQueue(dispatch.queue, dispatch.jobId, dispatch.dispatchSeq))) forgotten.push(dispatch);
    }
  } catch (error) {
    // Redis is away: nothing can be said about the rest, and nobody could be told of it either.
    errors.push(error);
  }
  const withdraw = (dispatches: typeof open): Promise<number> =>
    eachCandidate(dispatches, (dispatch) => withdrawDispatch(db, dispatch), errors);
  return { unserved: await withdraw(unserved), forgotten: await withdraw(forgotten) };
}
