import {
  isId,
  ServiceError,
  WEBHOOK_WINDOW_SECONDS,
  type WebhookDeliveryRow,
  type WebhookEventRow,
} from '@lipsync/domain';
import { databaseNow, type Db, secondsAfter, transaction, type Tx } from '../postgres/db';
import { newDelivery } from './webhook-events';

export interface DeliveryDetails {
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
export function redeliver(db: Db, eventId: string): Promise<WebhookDeliveryRow | null> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM webhook_events WHERE id = ${eventId} FOR UPDATE`;
    const event = await tx.webhookEvent.findUnique({ where: { id: eventId } });
    if (event === null) return null;
    await tx.$queryRaw`
      SELECT id FROM webhook_deliveries WHERE event_id = ${eventId}
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
    return tx.webhookDelivery.create({ data: newDelivery(db, { eventId, customerId, url, now }) });
  });
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
