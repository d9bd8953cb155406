import { type PreparationRequest } from '@lipsync/contract';
import { isId, type PreparationRow, ServiceError } from '@lipsync/domain';
import { requireRecordSlot } from '../customers/customer-limits';
import { customerTransaction } from '../customers/customer-transaction';
import { type IdempotencyClaim, reserveKey } from '../customers/idempotency';
import { databaseNow, secondsAfter } from '../postgres/database-clock';
import { type Db, type Tx } from '../postgres/db';
import { insertJob } from '../queue/queues';
import { type QueueName } from '../queue/queues';
import { inputAsset, referInput } from './media-input';

/** All data that the resource of a preparation is made of. */
export interface PreparationDetails {
  preparation: PreparationRow;
  webhookEventId: string | null;
}

export interface NewPreparation {
  customerId: string;
  /** Already checked against the contract and the URL policies. */
  request: PreparationRequest;
  idempotency: IdempotencyClaim | null;
  /** Lifetime of the record and its implicit asset, RECORD_TTL_SECONDS. */
  ttlSeconds: number;
  /** W3C trace context of the request. The analysis and the webhook join this trace. */
  traceParent?: string | undefined;
}

export interface CreatedPreparation extends PreparationDetails {
  replayed: boolean;
  /** Queues with new jobs that can start, and whose workers should be notified. */
  queues: QueueName[];
}

/**
 * Creates a preparation with its implicit asset and job, all or nothing.
 * @throws ServiceError in this order: idempotency_key_reused, idempotency_in_progress; what referring to the video
 * throws; concurrency_limit_exceeded
 */
export function createPreparation(db: Db, input: NewPreparation): Promise<CreatedPreparation> {
  const { customerId, request, idempotency, ttlSeconds, traceParent } = input;
  return customerTransaction(db, customerId, async (tx) => {
    const id = db.newId('prp');
    const now = await databaseNow(tx);
    const expiresAt = secondsAfter(now, ttlSeconds);
    if (idempotency) {
      const operation = 'create_preparation';
      const key = { ...idempotency, customerId, operation, resourceId: id, expiresAt } as const;
      const bound = await reserveKey(tx, key);
      if (bound !== null) return replay(tx, customerId, bound);
    }
    const referred = await referInput(tx, request.video, { customerId, mediaType: 'video' });
    await requireRecordSlot(tx, customerId);
    const asset = { customerId, ttlSeconds, traceParent, now, mediaType: 'video', referred } as const;
    const video = await inputAsset(db, tx, request.video, asset);
    const preparation = await tx.preparation.create({
      data: {
        id,
        customerId,
        status: 'accepted',
        stage: 'queued',
        videoAssetId: video.id,
        webhookUrl: request.webhook_url ?? null,
        traceParent: traceParent ?? null,
        createdAt: now,
        updatedAt: now,
        expiresAt,
      },
    });
    const status = video.status === 'ready' ? 'queued' : 'blocked';
    const subject = { kind: 'analyze', preparationId: id } as const;
    const queue = await insertJob(db, tx, { customerId, subject, status, now });
    const queues: QueueName[] = [
      ...(status === 'queued' ? [queue] : []),
      ...(referred ? [] : ['media' as const]),
    ];
    return { preparation, webhookEventId: null, replayed: false, queues };
  });
}

/** @throws ServiceError preparation_not_found (also for a malformed id or another customer's) or preparation_expired */
export async function getPreparation(
  db: Db,
  customerId: string,
  preparationId: string,
): Promise<PreparationDetails> {
  if (!isId('prp', preparationId)) throw new ServiceError('preparation_not_found');
  const [preparation, now] = await Promise.all([
    db.prisma.preparation.findFirst({ where: { id: preparationId, customerId } }),
    databaseNow(db.prisma),
  ]);
  if (preparation === null) throw new ServiceError('preparation_not_found');
  if (preparation.expiresAt <= now) throw new ServiceError('preparation_expired');
  return detailsOf(db.prisma, preparation);
}

async function replay(tx: Tx, customerId: string, preparationId: string): Promise<CreatedPreparation> {
  const preparation = await tx.preparation.findUniqueOrThrow({ where: { id: preparationId, customerId } });
  return { ...(await detailsOf(tx, preparation)), replayed: true, queues: [] };
}

async function detailsOf(tx: Tx, preparation: PreparationRow): Promise<PreparationDetails> {
  // It may end between the two queries.
  if (preparation.completedAt === null) return { preparation, webhookEventId: null };
  const where = { preparationId: preparation.id, customerId: preparation.customerId };
  const event = await tx.webhookEvent.findUnique({ where, select: { id: true } });
  return { preparation, webhookEventId: event?.id ?? null };
}
