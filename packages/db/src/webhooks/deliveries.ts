import {
  isId,
  ServiceError,
  WEBHOOK_WINDOW_SECONDS,
  type WebhookDeliveryRow,
  type WebhookEventRow,
} from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { type Act, recordAct } from '../audit/audit-log';
import { databaseNow, type Db, secondsAfter, transaction, type Tx } from '../postgres/db';
import { newDelivery } from './webhook-events';

interface DeliveryDetails {
  event: WebhookEventRow;
  /** The newest delivery of the event. */
  delivery: WebhookDeliveryRow;
}

/**
 * @throws ServiceError webhook_event_not_found (also for a malformed id or another customer's) or webhook_event_expired
 */
export async function getDeliveryByEvent(
  db: Db,
  customerId: string,
  eventId: string,
): Promise<DeliveryDetails> {
  if (!isId('evt', eventId)) throw new ServiceError('webhook_event_not_found');
  const [event, now] = await Promise.all([
    db.prisma.webhookEvent.findFirst({ where: { id: eventId, customerId } }),
    databaseNow(db.prisma),
  ]);
  if (event === null) throw new ServiceError('webhook_event_not_found');
  if (event.expiresAt <= now) throw new ServiceError('webhook_event_expired');
  return { event, delivery: await newestDelivery(db.prisma, event) };
}

/**
 * Delivers an event once more, for an operator. A pending delivery becomes due at once. If it is settled or being
 * attempted, or if its window is over, a new delivery is added with a window of its own. Returns null if the event does
 * not exist.
 * @throws ServiceError webhook_event_expired
 */
export function redeliver(db: Db, act: Act, eventId: string): Promise<WebhookDeliveryRow | null> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM webhook_events WHERE id = ${eventId} FOR UPDATE`;
    const event = await tx.webhookEvent.findUnique({ where: { id: eventId } });
    if (event === null) return null;
    const delivery = await bringForward(db, tx, event);
    const { customerId } = event;
    await recordAct(db, tx, act, { customerId, subjectId: eventId, details: { delivery_id: delivery.id } });
    return delivery;
  });
}

/** The delivery of a locked event that is due now. */
async function bringForward(db: Db, tx: Tx, event: WebhookEventRow): Promise<WebhookDeliveryRow> {
  await tx.$queryRaw`
    SELECT id FROM webhook_deliveries WHERE event_id = ${event.id}
    ORDER BY created_at DESC, id DESC LIMIT 1 FOR UPDATE`;
  const newest = await newestDelivery(tx, event);
  const now = await databaseNow(tx);
  // A claim would fail the new delivery.
  if (event.expiresAt <= now) throw new ServiceError('webhook_event_expired');
  const { id, customerId, url, attempts, createdAt, leaseUntil } = newest;
  // An attempt under way will set when its delivery is due next, and overwrite what is written here.
  const isAttempted = leaseUntil !== null && leaseUntil > now;
  if (newest.status === 'pending' && !isAttempted) {
    const change = (data: Partial<WebhookDeliveryRow>): Promise<WebhookDeliveryRow> =>
      tx.webhookDelivery.update({ where: { id }, data: { ...data, updatedAt: now } });
    const isInWindow = attempts === 0 || createdAt > secondsAfter(now, -WEBHOOK_WINDOW_SECONDS);
    // Clears the lease of a dispatcher that vanished too, because a claim would treat its last attempt as the final
    // one.
    if (isInWindow) return change({ nextAttemptAt: now, leaseUntil: null, claimToken: null });
    // A claim would fail the old delivery.
    await change({ status: 'failed', nextAttemptAt: null, leaseUntil: null, claimToken: null });
  }
  return tx.webhookDelivery.create({ data: newDelivery(db, { eventId: event.id, customerId, url, now }) });
}

function newestDelivery(
  tx: Tx,
  { id: eventId, customerId }: { id: string; customerId: string },
): Promise<WebhookDeliveryRow> {
  return tx.webhookDelivery.findFirstOrThrow({
    where: { eventId, customerId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}

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
