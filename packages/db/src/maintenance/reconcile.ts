import { RECORD_DEADLINE_SECONDS } from '@lipsync/domain';
import { findOpenDispatches, withdrawDispatch } from '../dispatch/lost-dispatches';
import { type QueueName } from '../dispatch/queue-names';
import { CAPACITY_SECONDS, servedQueues } from '../dispatch/workers';
import { type RecoveredJob } from '../jobs/job';
import { type Db } from '../postgres/db';
import { eachCandidate } from './each-candidate';
import {
  expireUpload,
  failOverdue,
  findExpiredLeases,
  findOverdueRecords,
  findStaleUploads,
  findUnserved,
  type Overdue,
  recoverJob,
} from './overdue';

interface ReconcileOptions {
  /** Says whether Redis still knows this announcement, waiting or active. Rejects if Redis is unavailable. */
  isInQueue: (queue: QueueName, jobId: string, dispatchSeq: number) => Promise<boolean>;
  /** How long a job may wait while no worker serves its queue. */
  unservedSeconds: number;
  /** Time after which this call begins no further candidate of a kind than the first; by default 30 s. */
  turnMs?: number;
  /**
   * Called at once for each abandoned job that this call recovered, because the call may yet reject. At most LIMIT
   * times per call. Of several concurrent processes only one reports a job.
   */
  onRecovered?: (job: RecoveredJob) => void;
}

interface ReconcileReport {
  /** Abandoned jobs that were requeued. */
  requeued: number;
  /** Abandoned jobs that had no attempt left. */
  workerLost: number;
  /** Announced jobs that Redis had lost, and that wait for admission again. */
  forgotten: number;
  /** Announced jobs that wait for admission again because no worker serves their queue any more. */
  unserved: number;
  expiredUploads: number;
  /** Records and jobs failed by a deadline. */
  overdue: number;
  /** Errors of single candidates, which come up again in the next call. */
  errors: unknown[];
}

/** Candidates per kind and call. */
const LIMIT = 200;
/** After this a call begins only the first candidate of a kind: liveness expects a turn to end. */
const TURN_MS = 30_000;

/**
 * Finds what was lost (workers, announcements) and what waited too long, and repairs it. Every change is a
 * compare-and-set under the same locks as all others, so any number of processes may call this at any time.
 */
export async function reconcile(db: Db, options: ReconcileOptions): Promise<ReconcileReport> {
  const errors: unknown[] = [];
  const endAtMs = performance.now() + (options.turnMs ?? TURN_MS);
  const recovered: RecoveredJob[] = [];
  /** A query that fails, for example because it takes too long, must not prevent the others. */
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
    endAtMs,
  );
  const stale = await found(findStaleUploads(db, LIMIT));
  const expiredUploads = await eachCandidate(stale, (id) => expireUpload(db, id), errors, endAtMs);
  const overdue = await eachCandidate(
    await found(findOverdue(db, options)),
    (item) => failOverdue(db, item),
    errors,
    endAtMs,
  );
  return {
    requeued: recovered.filter(({ outcome }) => outcome === 'requeued').length,
    workerLost: recovered.filter(({ outcome }) => outcome === 'failed').length,
    ...(await withdrawLost(db, options, errors, endAtMs).catch((error: unknown) => {
      errors.push(error);
      return { forgotten: 0, unserved: 0 };
    })),
    expiredUploads,
    overdue,
    errors,
  };
}

/** Time in which the service was down does not count against anything: after a gap every deadline starts anew. */
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
  endAtMs: number,
): Promise<Pick<ReconcileReport, 'forgotten' | 'unserved'>> {
  const open = await findOpenDispatches(db, LIMIT);
  const served = new Set(await servedQueues(db.prisma, CAPACITY_SECONDS));
  // Nobody will take these, and as jobs under way they would use up their customers' shares elsewhere.
  const unserved = open.filter(({ queue }) => !served.has(queue));
  const forgotten: typeof open = [];
  try {
    for (const dispatch of open.filter(({ queue }) => served.has(queue))) {
      if (!(await isInQueue(dispatch.queue, dispatch.jobId, dispatch.dispatchSeq))) forgotten.push(dispatch);
      if (performance.now() > endAtMs) break;
    }
  } catch (error) {
    // Redis is unavailable, so nothing is known about the rest, and nothing could be announced either.
    errors.push(error);
  }
  const withdraw = (dispatches: typeof open): Promise<number> =>
    eachCandidate(dispatches, (dispatch) => withdrawDispatch(db, dispatch), errors, endAtMs);
  return { unserved: await withdraw(unserved), forgotten: await withdraw(forgotten) };
}

/** Only an outage or a restored backup keeps all processes from reconciling for this long. */
const GAP_SECONDS = 300;
/**
 * Precision of the recorded time of the last run. Every media-worker reconciles every second, and not each run is
 * written.
 */
const NOTED_SECONDS = 5;

/**
 * Records that reconciliation runs. Returns the seconds since it resumed after its last gap; Infinity if there was
 * none. The row is part of a backup and as old as the rest of it, so a restored database shows a gap.
 */
async function secondsSinceGap(db: Db): Promise<number> {
  await db.prisma.$executeRaw`
    UPDATE reconciliation SET
      ran_at = now(),
      resumed_at = CASE WHEN ran_at < now() - make_interval(secs => ${GAP_SECONDS}::float8) THEN now() ELSE resumed_at END
    WHERE ran_at < now() - make_interval(secs => ${NOTED_SECONDS}::float8)`;
  // Only a later statement sees the gap that another process may just have recorded.
  const [row] = await db.prisma.$queryRaw<{ seconds: number | null }[]>`
    SELECT EXTRACT(EPOCH FROM clock_timestamp() - resumed_at)::float8 AS seconds FROM reconciliation`;
  if (row !== undefined) return row.seconds ?? Infinity;
  await db.prisma.$executeRaw`INSERT INTO reconciliation (ran_at) VALUES (now()) ON CONFLICT DO NOTHING`;
  return Infinity;
}
