import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { transaction, type Db, type Tx } from './db';
import { type QueueName } from './queue-names';
import { liveSlots } from './workers';

/** A job to be announced in Redis, under a name that no earlier announcement of it had. */
export interface Dispatch {
  jobId: string;
  dispatchSeq: number;
}

/** One admission at a time in the whole system: a customer's jobs are counted over several queues. */
const ADMISSION_LOCK = 727_002;
/** Enough that no slot waits for the next admission, few enough that a late customer soon gets its turn. */
const READY_PER_SLOT = 1.5;

/**
 * Chooses which waiting jobs of a queue may go to Redis: as many as its live slots can soon take, in turns over the
 * customers (the one with the fewest jobs under way first), never beyond a customer's share of running GPU jobs. The
 * rest of the backlog stays in Postgres. Any process may call this at any time.
 */
export function admitJobs(db: Db, queue: QueueName): Promise<Dispatch[]> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT pg_advisory_xact_lock(${ADMISSION_LOCK}::int)::text`;
    const capacity = Math.ceil((await liveSlots(tx, queue)) * READY_PER_SLOT);
    const free = capacity - (await inFlight(tx, queue));
    return free > 0 ? dispatchFairly(tx, queue, free) : [];
  });
}

async function inFlight(tx: Tx, queue: QueueName): Promise<number> {
  const [row] = await tx.$queryRaw<{ jobs: number }[]>`
    SELECT count(*)::int AS jobs FROM jobs
    WHERE queue = ${queue} AND (status = 'running' OR (status = 'queued' AND dispatched_at IS NOT NULL))`;
  return row?.jobs ?? 0;
}

function dispatchFairly(tx: Tx, queue: QueueName, free: number): Promise<Dispatch[]> {
  return tx.$queryRaw<Dispatch[]>`
    WITH waiting AS (
      SELECT id, customer_id, available_at,
        row_number() OVER (PARTITION BY customer_id ORDER BY created_at, id)::int AS turn
      FROM jobs
      WHERE queue = ${queue} AND status = 'queued' AND dispatched_at IS NULL AND available_at <= clock_timestamp()
    ), under_way AS (
      SELECT customer_id,
        count(*) FILTER (WHERE queue = ${queue})::int AS here,
        count(*) FILTER (WHERE kind <> 'ingest')::int AS gpu
      FROM jobs
      WHERE status = 'running' OR (status = 'queued' AND dispatched_at IS NOT NULL)
      GROUP BY customer_id
    ), chosen AS (
      SELECT waiting.id
      FROM waiting
      JOIN customers ON customers.id = waiting.customer_id
      LEFT JOIN under_way ON under_way.customer_id = waiting.customer_id
      WHERE ${queue} = 'media'
        OR waiting.turn + COALESCE(under_way.gpu, 0)
          <= COALESCE(customers.running_jobs_max, ${DEFAULT_CUSTOMER_LIMITS.runningJobsMax}::int)
      ORDER BY waiting.turn + COALESCE(under_way.here, 0), waiting.available_at, waiting.id
      LIMIT ${free}::int
    )
    UPDATE jobs
    SET dispatched_at = clock_timestamp(), dispatch_seq = dispatch_seq + 1
    FROM chosen
    WHERE jobs.id = chosen.id AND jobs.status = 'queued' AND jobs.dispatched_at IS NULL
    RETURNING jobs.id AS "jobId", jobs.dispatch_seq AS "dispatchSeq"`;
}
