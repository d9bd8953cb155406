import { DEFAULT_CUSTOMER_LIMITS, enqueueCapacity, ingestCap } from '@lipsync/domain';
import { type Db, transaction, type Tx } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/errors';
import { QUEUE_NAMES, type QueueName, queueName } from './queues';
import { liveSlots } from './workers';

/** A message about a job, to be added to Redis. No two messages about a job share a number. */
export interface JobMessage {
  jobId: string;
  enqueueSeq: number;
}

/** Only one process at a time enqueues in the whole system, because a customer's jobs are counted over several queues. */
const ENQUEUE_LOCK = 727_002;
/**
 * A waiter holds a connection that others need. The holder of the lock may have been cut off, and then Postgres keeps
 * the lock for half a minute. The timeout is shorter than any caller's own deadline; otherwise an abandoned wait would
 * overlap with the caller's next one.
 */
const LOCK_TIMEOUT = '300ms';

/**
 * Chooses which waiting jobs of a queue go to Redis now, marks them as enqueued and returns the messages that the caller
 * must add: as many as its live slots can soon take, in turns over the customers (the one with the fewest jobs under way
 * first), never beyond a customer's share of running GPU jobs or of ingests. The rest of the backlog stays in Postgres. Any process may call this at any time.
 *
 * Returns an empty list if a lock is not available in time, because then another process is enqueueing. That one may
 * serve another queue, or may have looked before this caller's jobs were inserted. Such jobs are not lost: they wait in
 * Postgres, and every media-worker looks for them twice a second. Postgres grants the lock in the order of the
 * requests, so those rounds get their turn: a job is enqueued at the latest in the first round after a holder that hung.
 */
export async function enqueueJobs(db: Db, queue: QueueName): Promise<JobMessage[]> {
  try {
    return await transaction(db, (tx) => enqueueWithinCapacity(tx, queue));
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return [];
    throw error;
  }
}

async function enqueueWithinCapacity(tx: Tx, queue: QueueName): Promise<JobMessage[]> {
  await tx.$queryRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
  await tx.$queryRaw`SELECT pg_advisory_xact_lock(${ENQUEUE_LOCK}::int)::text`;
  const slots = await liveSlots(tx, queue);
  const free = enqueueCapacity(slots) - (await inFlight(tx, queue));
  return free > 0 ? enqueueFairly(tx, queue, { slots, free }) : [];
}

/**
 * The queues with jobs that wait to be enqueued. One cheap query, which usually answers that there is nothing to do.
 */
export async function queuesWithWaitingJobs(db: Db): Promise<QueueName[]> {
  const rows = await db.prisma.$queryRaw<{ queue: string }[]>`
    SELECT queue FROM unnest(${[...QUEUE_NAMES]}::text[]) AS queues (queue)
    WHERE EXISTS (
      SELECT FROM jobs
      WHERE jobs.queue = queues.queue AND status = 'queued' AND enqueued_at IS NULL
        AND available_at <= clock_timestamp()
    )`;
  return rows.map(({ queue }) => queueName(queue));
}

async function inFlight(tx: Tx, queue: QueueName): Promise<number> {
  const [row] = await tx.$queryRaw<{ jobs: number }[]>`
    SELECT count(*)::int AS jobs FROM jobs
    WHERE queue = ${queue} AND (status = 'running' OR (status = 'queued' AND enqueued_at IS NOT NULL))`;
  return row?.jobs ?? 0;
}

function enqueueFairly(
  tx: Tx,
  queue: QueueName,
  { slots, free }: { slots: number; free: number },
): Promise<JobMessage[]> {
  // A sole customer keeps nobody waiting.
  return tx.$queryRaw<JobMessage[]>`
    WITH waiting AS (
      SELECT id, customer_id, available_at,
        row_number() OVER (PARTITION BY customer_id ORDER BY created_at, id)::int AS turn
      FROM jobs
      WHERE queue = ${queue} AND status = 'queued' AND enqueued_at IS NULL AND available_at <= clock_timestamp()
    ), under_way AS (
      SELECT customer_id,
        count(*) FILTER (WHERE queue = ${queue})::int AS here,
        count(*) FILTER (WHERE kind <> 'ingest')::int AS gpu
      FROM jobs
      WHERE status = 'running' OR (status = 'queued' AND enqueued_at IS NOT NULL)
      GROUP BY customer_id
    ), chosen AS (
      SELECT waiting.id
      FROM waiting
      JOIN customers ON customers.id = waiting.customer_id
      LEFT JOIN under_way ON under_way.customer_id = waiting.customer_id
      WHERE CASE WHEN ${queue} = 'media'
        THEN waiting.turn + COALESCE(under_way.here, 0) <= ${ingestCap(slots)}::int
          OR NOT EXISTS (SELECT FROM customers OFFSET 1)
        ELSE waiting.turn + COALESCE(under_way.gpu, 0)
          <= COALESCE(customers.running_jobs_max, ${DEFAULT_CUSTOMER_LIMITS.runningJobsMax}::int)
        END
      ORDER BY waiting.turn + COALESCE(under_way.here, 0), waiting.available_at, waiting.id
      LIMIT ${free}::int
    ), locked AS (
      -- A transaction that holds one of them (a cancel that was cut off) must not hold up the others.
      SELECT id FROM jobs
      WHERE id IN (SELECT id FROM chosen) AND status = 'queued' AND enqueued_at IS NULL
      FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs
    SET enqueued_at = clock_timestamp(), enqueue_seq = enqueue_seq + 1
    FROM locked
    WHERE jobs.id = locked.id
    RETURNING jobs.id AS "jobId", jobs.enqueue_seq AS "enqueueSeq"`;
}

/** A job that was enqueued and has not been claimed since. */
interface EnqueuedJob extends JobMessage {
  queue: QueueName;
}

/** A message is added after the commit. Within this time it may simply not be there yet. */
const SETTLE_SECONDS = 2;

export async function findEnqueuedJobs(db: Db, limit: number): Promise<EnqueuedJob[]> {
  const rows = await db.prisma.$queryRaw<{ id: string; queue: string; enqueueSeq: number }[]>`
    SELECT id, queue, enqueue_seq AS "enqueueSeq" FROM jobs
    WHERE status = 'queued' AND enqueued_at < clock_timestamp() - make_interval(secs => ${SETTLE_SECONDS}::float8)
    ORDER BY enqueued_at LIMIT ${limit}::int`;
  return rows.map(({ id, queue, enqueueSeq }) => ({ jobId: id, queue: queueName(queue), enqueueSeq }));
}

/** Has a job whose message was lost wait in Postgres again, to be enqueued under a new number. */
export async function undoEnqueue(db: Db, { jobId, enqueueSeq }: EnqueuedJob): Promise<boolean> {
  const undone = await db.prisma.$executeRaw`
    UPDATE jobs SET enqueued_at = NULL
    WHERE id = ${jobId} AND status = 'queued' AND enqueue_seq = ${enqueueSeq}::int AND enqueued_at IS NOT NULL`;
  return undone === 1;
}
