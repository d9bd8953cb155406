import { Prisma } from '@lipsync/prisma';
import { type Db } from '../postgres/db';

/** A delivery that was given up and has not been repeated since. */
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
  /** Expiry of the event, after which it cannot be delivered. */
  expiresAt: Date;
}

export interface FailureSearch {
  /** Only deliveries that were given up at most this long ago. */
  sinceSeconds: number;
  /** All customers if omitted. */
  customerId?: string | undefined;
}

/**
 * Deliveries that failed and are the newest of their event. This scans the whole table: an index of failures would add
 * a write to every delivery, for a query that is run by hand.
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

/** The latest `limit` of them, most recent failure first, and how many more there are. */
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

/** The events of all of them, earliest failure first, including expired events. */
export async function findFailedEvents(db: Db, search: FailureSearch): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ eventId: string }[]>`
    SELECT event_id AS "eventId" FROM ${failedBy(search)} ORDER BY updated_at, id`;
  return rows.map(({ eventId }) => eventId);
}
