import { RECORD_DEADLINE_SECONDS } from '@lipsync/domain';
import { type RecoveredJob } from '../jobs/job';
import { type Db } from '../postgres/db';
import { findEnqueuedJobs, undoEnqueue } from '../queue/enqueue';
import { type QueueName } from '../queue/queues';
import { CAPACITY_SECONDS, servedQueues } from '../queue/workers';
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
  /** Says whether Redis still knows this message, waiting or locked. Rejects if Redis is unavailable. */
  isInQueue: (queue: QueueName, jobId: string, enqueueSeq: number) => Promise<boolean>;
  /** How long a job may wait while no worker serves its queue. */
  unservedSeconds: number;
  /** Whether to look for what has waited too long, by default true. Deadlines are minutes away; losses are not. */
  deadlines?: boolean;
  /** Time after which this call begins only the first candidate of each kind; by default 30 s. */
  turnMs?: number;
  /**
   * Called at once for each abandoned job that this call recovered, because the call may yet reject. At most LIMIT
   * times per call. Only one of several concurrent processes reports a job.
   */
  onRecovered?: (job: RecoveredJob) => void;
}

interface ReconcileReport {
  /** Abandoned jobs that were requeued. */
  requeued: number;
  /** Abandoned jobs that had no attempt left. */
  workerLost: number;
  /** Enqueued jobs that Redis had lost, and that wait in Postgres again. */
  forgotten: number;
  /** Enqueued jobs that wait in Postgres again because no worker serves their queue any more. */
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
 * Finds what was lost (workers, messages) and what waited too long, and repairs it. Every change is a
 * compare-and-set under the same locks as all others, so any number of processes may call this at any time.
 */
export async function reconcile(db: Db, options: ReconcileOptions): Promise<ReconcileReport> {
  const { deadlines = true } = options;
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
  const stale = deadlines ? await found(findStaleUploads(db, LIMIT)) : [];
  const expiredUploads = await eachCandidate(stale, (id) => expireUpload(db, id), errors, endAtMs);
  const overdue = await eachCandidate(
    deadlines ? await found(findOverdue(db, options)) : [],
    (item) => failOverdue(db, item),
    errors,
    endAtMs,
  );
  return {
    requeued: recovered.filter(({ outcome }) => outcome === 'requeued').length,
    workerLost: recovered.filter(({ outcome }) => outcome === 'failed').length,
    ...(await undoLost(db, options, errors, endAtMs).catch((error: unknown) => {
      errors.push(error);
      return { forgotten: 0, unserved: 0 };
    })),
    expiredUploads,
    overdue,
    errors,
  };
}

/** Time in which the service was down does not count against anything: after a gap every deadline starts over. */
async function findOverdue(db: Db, { unservedSeconds }: ReconcileOptions): Promise<Overdue[]> {
  const seconds = await secondsSinceGap(db);
  return [
    ...(seconds < unservedSeconds ? [] : await findUnserved(db, unservedSeconds, LIMIT)),
    ...(seconds < RECORD_DEADLINE_SECONDS
      ? []
      : await findOverdueRecords(db, RECORD_DEADLINE_SECONDS, LIMIT)),
  ];
}

async function undoLost(
  db: Db,
  { isInQueue }: ReconcileOptions,
  errors: unknown[],
  endAtMs: number,
): Promise<Pick<ReconcileReport, 'forgotten' | 'unserved'>> {
  const open = await findEnqueuedJobs(db, LIMIT);
  if (open.length === 0) return { forgotten: 0, unserved: 0 };
  const served = new Set(await servedQueues(db.prisma, CAPACITY_SECONDS));
  // Nobody will take these, and as jobs under way they would use up their customers' shares elsewhere.
  const unserved = open.filter(({ queue }) => !served.has(queue));
  const forgotten: typeof open = [];
  try {
    for (const job of open.filter(({ queue }) => served.has(queue))) {
      if (!(await isInQueue(job.queue, job.jobId, job.enqueueSeq))) forgotten.push(job);
      if (performance.now() > endAtMs) break;
    }
  } catch (error) {
    // Redis is unavailable, so nothing is known about the rest, and nothing could be enqueued either.
    errors.push(error);
  }
  const undo = (jobs: typeof open): Promise<number> =>
    eachCandidate(jobs, (job) => undoEnqueue(db, job), errors, endAtMs);
  return { unserved: await undo(unserved), forgotten: await undo(forgotten) };
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
