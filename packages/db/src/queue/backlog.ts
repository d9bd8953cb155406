import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { HELD_CUSTOMERS } from '../customers/suspension';
import { type Db } from '../postgres/db';
import { type DeliveryClaimOptions } from '../webhooks/claim-deliveries';
import { QUEUE_NAMES, type QueueName } from './queues';
import { CAPACITY_SECONDS } from './workers';

export interface QueueBacklog {
  queue: QueueName;
  /** Jobs whose inputs are not ready. */
  blocked: number;
  /** Jobs that wait in Postgres. */
  waiting: number;
  /** Jobs that wait in Redis. */
  enqueued: number;
  running: number;
  /**
   * How long the oldest waiting or enqueued job has been ready to run, in seconds; 0 if there is none. A job that
   * is not enqueued because its customer has reached its limit does not count, since it does not wait for this
   * service. If no worker serves the queue, every job in it counts.
   */
  oldestSeconds: number;
  /** Slots of the live workers. */
  liveSlots: number;
}

/** The work that the whole system has not done yet. */
export interface Backlog {
  queues: QueueBacklog[];
  /** Deliveries to attempt now, including those under way. None of a suspended customer counts, here and below. */
  webhooksDue: number;
  /** Deliveries to attempt later. */
  webhooksScheduled: number;
  /**
   * How long the oldest delivery that a claim would take now has been due, in seconds; 0 if there is none. Excludes
   * deliveries under way, and those that a claim skips because their origin or customer has reached its cap.
   */
  webhooksOldestDueSeconds: number;
}

/** Reads the backlog of every queue and of the deliveries. Takes the caps that deliveries are claimed within. */
export async function readBacklog(
  db: Db,
  caps: Pick<DeliveryClaimOptions, 'perOrigin' | 'perCustomer'>,
): Promise<Backlog> {
  const [queues, deliveries] = await Promise.all([readQueues(db), readDeliveries(db, caps)]);
  return { queues, ...deliveries };
}

function readQueues(db: Db): Promise<QueueBacklog[]> {
  return db.prisma.$queryRaw`
    WITH full_customer AS (
      SELECT jobs.customer_id FROM jobs JOIN customers ON customers.id = jobs.customer_id
      WHERE kind <> 'ingest' AND (jobs.status = 'running' OR (jobs.status = 'queued' AND enqueued_at IS NOT NULL))
      GROUP BY jobs.customer_id, customers.running_jobs_max
      HAVING count(*) >= COALESCE(customers.running_jobs_max, ${DEFAULT_CUSTOMER_LIMITS.runningJobsMax}::int)
    ), live AS (
      SELECT entry.key AS queue, sum(entry.value::int) AS slots
      FROM workers, jsonb_each_text(workers.slots) AS entry
      WHERE seen_at > clock_timestamp() - make_interval(secs => ${CAPACITY_SECONDS}::float8)
      GROUP BY entry.key
    ), open AS (
      SELECT queue, count(*) FILTER (WHERE status = 'blocked') AS blocked,
        count(*) FILTER (WHERE status = 'queued' AND enqueued_at IS NULL) AS waiting,
        count(*) FILTER (WHERE status = 'queued' AND enqueued_at IS NOT NULL) AS enqueued,
        count(*) FILTER (WHERE status = 'running') AS running,
        min(available_at) FILTER (
          WHERE status = 'queued'
            AND (kind = 'ingest' OR enqueued_at IS NOT NULL OR queue NOT IN (SELECT queue FROM live)
              OR customer_id NOT IN (SELECT customer_id FROM full_customer))
        ) AS oldest_at
      FROM jobs WHERE queue = ANY(${[...QUEUE_NAMES]}) AND status IN ('blocked', 'queued', 'running') GROUP BY queue
    )
    SELECT queues.name AS queue, COALESCE(blocked, 0)::int AS blocked, COALESCE(waiting, 0)::int AS waiting,
      COALESCE(enqueued, 0)::int AS enqueued, COALESCE(running, 0)::int AS running,
      GREATEST(0, COALESCE(extract(epoch FROM clock_timestamp() - open.oldest_at), 0))::float8 AS "oldestSeconds",
      COALESCE(slots, 0)::int AS "liveSlots"
    FROM unnest(${[...QUEUE_NAMES]}::text[]) AS queues (name)
    LEFT JOIN open ON open.queue = queues.name
    LEFT JOIN live ON live.queue = queues.name`;
}

async function readDeliveries(
  db: Db,
  { perOrigin, perCustomer }: Pick<DeliveryClaimOptions, 'perOrigin' | 'perCustomer'>,
): Promise<Omit<Backlog, 'queues'>> {
  const [deliveries] = await db.prisma.$queryRaw<Omit<Backlog, 'queues'>[]>`
    WITH full_origin AS (
      SELECT origin FROM webhook_deliveries WHERE lease_until >= clock_timestamp()
      GROUP BY origin HAVING count(*) >= ${perOrigin}::int
    ), full_customer AS (
      SELECT customer_id FROM webhook_deliveries WHERE lease_until >= clock_timestamp()
      GROUP BY customer_id HAVING count(*) >= ${perCustomer}::int
    ), pending AS (
      SELECT count(*) FILTER (WHERE next_attempt_at <= clock_timestamp()) AS due,
        count(*) FILTER (WHERE next_attempt_at > clock_timestamp()) AS scheduled,
        min(next_attempt_at) FILTER (
          WHERE (lease_until IS NULL OR lease_until < clock_timestamp())
            AND origin NOT IN (SELECT origin FROM full_origin)
            AND customer_id NOT IN (SELECT customer_id FROM full_customer)
        ) AS oldest_at
      FROM webhook_deliveries
      WHERE status = 'pending' AND customer_id NOT IN (${Prisma.raw(HELD_CUSTOMERS)})
    )
    SELECT due::int AS "webhooksDue", scheduled::int AS "webhooksScheduled",
      GREATEST(0, COALESCE(extract(epoch FROM clock_timestamp() - oldest_at), 0))::float8
        AS "webhooksOldestDueSeconds"
    FROM pending`;
  if (deliveries === undefined) throw new Error('an aggregate without a row');
  return deliveries;
}
