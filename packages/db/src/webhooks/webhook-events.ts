import { type RecordResource, type WebhookEventType } from '@lipsync/contract';
import { type RenderRow, webhookEventBody } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
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
 * Writes the event of a record that ended and its delivery, due at once. The table allows one event per record, so a
 * second end of the same record cannot commit. An event lives as long as its record, counted from its own creation.
 */
export async function insertEvent(db: Db, tx: Tx, event: NewEvent): Promise<void> {
  const { ended, now, renderId, preparationId, type, webhookUrl: url, record } = event;
  const { customerId } = ended;
  const expiresAt = new Date(now.getTime() + ended.expiresAt.getTime() - ended.createdAt.getTime());
  const id = db.newId('evt');
  const body = webhookEventBody({ id, type, createdAt: now }, record(id));
  const row = { id, customerId, renderId, preparationId, type, body, createdAt: now, expiresAt };
  await tx.webhookEvent.create({ data: row });
  await tx.webhookDelivery.create({ data: newDelivery(db, { eventId: id, customerId, url, now }) });
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

/** SQL for an UPDATE: nothing more is sent, and what an attempt under way reports is not heard. */
export const GIVE_UP = Prisma.sql`
  status = 'failed', next_attempt_at = NULL, lease_until = NULL, claim_token = NULL, updated_at = clock_timestamp()`;
