import { type ErrorCode, type PreparationRequest } from '@lipsync/contract';
import { isId, type PreparationRow, RECORD_STATES, type RenderRow, ServiceError } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import {
  customerTransaction,
  type IdempotencyClaim,
  requireRecordSlot,
  reserveKey,
} from '../customers/customer-transaction';
import { databaseNow, type Db, secondsAfter, type Tx } from '../postgres/db';
import { insertJobs, type QueueName } from '../queue/queues';
import { ingestOf, insertUrlAsset, referInput, urlOf } from './assets';

/** All data that the resource of a preparation is made of. */
interface PreparationDetails {
  preparation: PreparationRow;
  webhookEventId: string | null;
}

interface NewPreparation {
  customerId: string;
  /** Already checked against the contract and the URL policies. */
  request: PreparationRequest;
  idempotency: IdempotencyClaim | null;
  /** Lifetime of the record and its implicit asset, RECORD_TTL_SECONDS. */
  ttlSeconds: number;
  /** W3C trace context of the request. The analysis and the webhook join this trace. */
  traceParent?: string | undefined;
}

interface CreatedPreparation extends PreparationDetails {
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
    const queues = await insertJobs(
      db,
      tx,
      customerId,
      [...(referred ? [] : [ingestOf(video)]), { subject: { kind: 'analyze', preparationId: id }, status }],
      now,
    );
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

/** The fields of a video asset that decide whether a preparation analyzed the same video. */
type Video = Pick<Asset, 'id' | 'sha256'>;

/**
 * The completed preparation that a new render refers to. `video` is null if the render's video is yet to be fetched
 * from its URL; then whether it is the same video is decided when it is ready (see `preparationFault`).
 * @throws ServiceError in this order: preparation_not_found, preparation_expired, preparation_not_ready,
 * preparation_failed, preparation_mismatch
 */
export async function referPreparation(
  tx: Tx,
  reference: { customerId: string; preparationId: string; video: Video | null; now: Date },
): Promise<PreparationRow> {
  const { customerId, preparationId, video, now } = reference;
  const preparation = isId('prp', preparationId)
    ? await tx.preparation.findFirst({ where: { id: preparationId, customerId } })
    : null;
  if (preparation === null) throw new ServiceError('preparation_not_found');
  if (preparation.expiresAt <= now) throw new ServiceError('preparation_expired');
  if (preparation.completedAt === null) throw new ServiceError('preparation_not_ready');
  if (RECORD_STATES.parse(preparation.status) !== 'completed') throw new ServiceError('preparation_failed');
  if (video !== null && isOfAnotherVideo(preparation, video)) throw new ServiceError('preparation_mismatch');
  return preparation;
}

/**
 * Why a render whose video is ready cannot use the preparation it refers to (null if that preparation is gone). Returns
 * null if the render can use it.
 */
export function preparationFault(
  preparation: PreparationRow | null,
  video: Video,
  now: Date,
): ErrorCode | null {
  if (preparation === null || preparation.expiresAt <= now) return 'preparation_expired';
  return isOfAnotherVideo(preparation, video) ? 'preparation_mismatch' : null;
}

/** Equal assets are the same video; different assets are the same video if their bytes are equal. */
function isOfAnotherVideo(preparation: PreparationRow, video: Video): boolean {
  if (preparation.videoAssetId === video.id) return false;
  const known = preparation.videoSha256 !== null && video.sha256 !== null;
  return known && preparation.videoSha256 !== video.sha256;
}

/** The preparation that a render refers to; null if it refers to none or its preparation is gone. */
export async function preparationOf(
  tx: Tx,
  { preparationId, customerId }: RenderRow,
): Promise<PreparationRow | null> {
  if (preparationId === null) return null;
  return tx.preparation.findUnique({ where: { id: preparationId, customerId } });
}
