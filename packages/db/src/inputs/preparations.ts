import { type PreparationRequest } from '@lipsync/contract';
import { isId, type PreparationRow, ServiceError } from '@lipsync/domain';
import { requireRecordSlot } from '../customers/customer-limits';
import { customerTransaction } from '../customers/customer-transaction';
import { type IdempotencyClaim, reserveKey } from '../customers/idempotency';
import { insertJob } from '../dispatch/new-job';
import { type QueueName } from '../dispatch/queue-names';
import { databaseNow, secondsAfter } from '../postgres/database-clock';
import { type Db, type Tx } from '../postgres/db';
import { insertUrlAsset, referInput, urlOf } from './assets';

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
  return customerTransaction(db, customerId, async (tx, now) => {
    const id = db.newId('prp');
    const expiresAt = secondsAfter(now, ttlSeconds);
    const binding = { customerId, operation: 'create_preparation', resourceId: id, expiresAt } as const;
    const bound = idempotency && (await reserveKey(tx, idempotency, binding));
    if (bound !== null) return replay(tx, customerId, bound);

    const referred = await referInput(tx, { customerId, mediaType: 'video', input: request.video }, now);
    await requireRecordSlot(tx, customerId);

    const source = { customerId, mediaType: 'video', ttlSeconds, traceParent } as const;
    const video = referred ?? (await insertUrlAsset(db, tx, { ...source, url: urlOf(request.video) }, now));
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
