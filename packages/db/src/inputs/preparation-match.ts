import { type ErrorCode } from '@lipsync/contract';
import { isId, type PreparationRow, RECORD_STATES, ServiceError } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import { type Tx } from '../postgres/db';

/** The fields of a video asset that decide whether a preparation analysed the same video. */
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
