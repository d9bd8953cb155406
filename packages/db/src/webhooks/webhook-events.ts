import { type RecordResource, type WebhookEventType } from '@lipsync/contract';
import { type RenderRow, webhookEventBody } from '@lipsync/domain';
import { type Prisma } from '@lipsync/prisma';
import { type Db, type Tx } from '../postgres/db';

interface NewEvent {
  /** The record that ended at `now`. */
  ended: Pick<RenderRow, 'customerId' | 'createdAt' | 'expiresAt'>;
  now: Date;
  /** Exactly one of renderId and preparationId is set. */
  renderId: string | null;
  preparationId: string | null;
  type: WebhookEventType;
  webhookUrl: string;
  /** The record as it can be fetched from now on; it refers to the event. */
  record: (webhookEventId: string) => RecordResource;
}

/**
 * Writes the events of terminal records and their deliveries, due at once. The table allows one event per record, so a
 * second end of the same record cannot commit. An event lives as long as its record, counted from its own creation.
 */
export async function insertEvents(db: Db, tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const rows = events.map(({ ended, now: createdAt, renderId, preparationId, type, webhookUrl, record }) => {
    const { customerId } = ended;
    const expiresAt = new Date(createdAt.getTime() + ended.expiresAt.getTime() - ended.createdAt.getTime());
    const id = db.newId('evt');
    const body = webhookEventBody({ id, type, createdAt }, record(id));
    return {
      event: { id, customerId, renderId, preparationId, type, body, createdAt, expiresAt },
      delivery: newDelivery(db, { eventId: id, customerId, url: webhookUrl, now: createdAt }),
    };
  });
  await tx.webhookEvent.createMany({ data: rows.map(({ event }) => event) });
  await tx.webhookDelivery.createMany({ data: rows.map(({ delivery }) => delivery) });
}

/** A delivery that is due now. */
export function newDelivery(
  db: Db,
  { eventId, customerId, url, now }: { eventId: string; customerId: string; url: string; now: Date },
): Prisma.WebhookDeliveryUncheckedCreateInput {
  return {
    id: db.newId('dlv'),
    eventId,
    customerId,
    url,
    origin: new URL(url).origin,
    status: 'pending',
    nextAttemptAt: now,
    createdAt: now,
    updatedAt: now,
  };
}
