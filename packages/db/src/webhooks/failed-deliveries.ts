import { Prisma } from '@lipsync/prisma';
import { type Db } from '../postgres/db';

/** A delivery that was given up, and was not repeated since. */
export interface FailedDelivery {
  id: string;
  eventId: string;
  type: string;
  customerId: string;
  origin: string;
  attempts: number;
  lastError: string | null;
  lastHttpStatus: number | null;
  failedAt: Date;
  /** Of the event: it cannot be delivered from then on. */
  expiresAt: Date;
}

export interface FailureSearch {
  /** How long ago a delivery was given up at most. */
  sinceSeconds: number;
  /** Of everybody when left out. */
  customerId?: string | undefined;
}

/**
 * Deliveries that failed and are the newest of their event. No index leads to what has failed: it would be written to by
 * every delivery, for a question that is asked by hand. So this reads the table from end to end.
 */
const failedBy = ({ sinceSeconds, customerId }: FailureSearch): Prisma.Sql => Prisma.sql`
  webhook_deliveries AS delivery
  WHERE delivery.status = 'failed'
    AND delivery.updated_at >= now() - make_interval(secs => ${sinceSeconds}::float8)
    ${customerId === undefined ? Prisma.empty : Prisma.sql`AND delivery.customer_id = ${customerId}`}
    AND NOT EXISTS (
      SELECT FROM webhook_deliveries AS later
      WHERE later.event_id = delivery.event_id
        AND (later.created_at, later.id) > (delivery.created_at, delivery.id)
    )`;

/** The latest `limit` of them, those that failed last first, and how many there are besides. */
export async function listFailedDeliveries(
  db: Db,
  { limit, ...search }: FailureSearch & { limit: number },
): Promise<{ deliveries: FailedDelivery[]; leftOut: number }> {
  const rows = await db.prisma.$queryRaw<(FailedDelivery & { total: number })[]>`
    WITH failed AS (
      SELECT id, event_id, customer_id, origin, attempts, last_error, last_http_status, updated_at,
        (count(*) OVER ())::int AS total
      FROM ${failedBy(search)}
      ORDER BY updated_at DESC, id DESC LIMIT ${limit}::int
    )
    SELECT failed.id, event.id AS "eventId", event.type, failed.customer_id AS "customerId", failed.origin,
      failed.attempts, failed.last_error AS "lastError", failed.last_http_status AS "lastHttpStatus",
      failed.updated_at AS "failedAt", event.expires_at AS "expiresAt", failed.total
    FROM failed JOIN webhook_events AS event ON event.id = failed.event_id
    ORDER BY failed.updated_at DESC, failed.id DESC`;
  return { deliveries: rows, leftOut: (rows[0]?.total ?? 0) - rows.length };
}

/** The events of all of them, those that failed first first. Expired ones are among them. */
export async function findFailedEvents(db: Db, search: FailureSearch): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ eventId: string }[]>`
    SELECT event_id AS "eventId" FROM ${failedBy(search)} ORDER BY updated_at, id`;
  return rows.map(({ eventId }) => eventId);
}
