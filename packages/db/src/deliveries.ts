import {
  isId,
  ServiceError,
  WEBHOOK_WINDOW_SECONDS,
  type WebhookDeliveryRow,
  type WebhookEventRow,
} from '@lipsync/domain';
import { databaseNow, secondsAfter } from './database-clock';
import { transaction, type Db, type Tx } from './db';
import { newDelivery } from './webhook-events';

export interface DeliveryDetails {
  event: WebhookEventRow;
  /** The newest one of the event. */
  delivery: WebhookDeliveryRow;
}

/** Throws webhook_event_not_found (also for a foreign or malformed id) and webhook_event_expired. */
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
  return { event, delivery: await newestDelivery(db.prisma, eventId) };
}

/**
 * Delivers an event once more, for an operator: a pending delivery becomes due at once; after one that is settled, or
 * whose window is over, a new one is added with a window of its own. Null when there is no such event; throws
 * webhook_event_expired.
 */
export function redeliver(db: Db, eventId: string): Promise<WebhookDeliveryRow | null> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM webhook_events WHERE id = ${eventId} FOR UPDATE`;
    const event = await tx.webhookEvent.findUnique({ where: { id: eventId } });
    if (event === null) return null;
    const now = await databaseNow(tx);
    // A claim would fail what was added.
    if (event.expiresAt <= now) throw new ServiceError('webhook_event_expired');
    const { id, customerId, url } = await newestDelivery(tx, eventId);
    const pending = { id, status: 'pending' };
    const inWindow = [{ attempts: 0 }, { createdAt: { gt: secondsAfter(now, -WEBHOOK_WINDOW_SECONDS) } }];
    const [due] = await tx.webhookDelivery.updateManyAndReturn({
      where: { ...pending, OR: inWindow },
      data: { nextAttemptAt: now, updatedAt: now },
    });
    if (due) return due;
    // Its window is over: a claim would fail it.
    const failed = { status: 'failed', nextAttemptAt: null, leaseUntil: null, claimToken: null };
    await tx.webhookDelivery.updateMany({ where: pending, data: { ...failed, updatedAt: now } });
    return tx.webhookDelivery.create({ data: newDelivery(db, { eventId, customerId, url, now }) });
  });
}

function newestDelivery(tx: Tx, eventId: string): Promise<WebhookDeliveryRow> {
  return tx.webhookDelivery.findFirstOrThrow({
    where: { eventId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}
