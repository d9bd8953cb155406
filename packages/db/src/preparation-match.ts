import { type ErrorCode } from '@lipsync/contract';
import { isId, type PreparationRow, type RenderRow, ServiceError } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import { databaseNow } from './database-clock';
import { type Tx } from './db';

/** The parts of a video asset that say whether a preparation analysed it. */
type Video = Pick<Asset, 'id' | 'sha256'>;

/**
 * The completed preparation that a request names. Throws preparation_not_found, preparation_expired,
 * preparation_not_ready, preparation_failed, and preparation_mismatch when it is known to be of another video; while
 * the video's hash is unknown that is decided when the video is ready.
 */
export async function referPreparation(
  tx: Tx,
  reference: { customerId: string; preparationId: string; video: Video | null },
): Promise<PreparationRow> {
  const { customerId, preparationId, video } = reference;
  const row = isId('prp', preparationId)
    ? await tx.preparation.findFirst({ where: { id: preparationId, customerId } })
    : null;
  if (row === null) throw new ServiceError('preparation_not_found');
  if (row.expiresAt <= (await databaseNow(tx))) throw new ServiceError('preparation_expired');
  if (row.status === 'accepted' || row.status === 'processing')
    throw new ServiceError('preparation_not_ready');
  if (row.status !== 'completed') throw new ServiceError('preparation_failed');
  if (video && isOfAnotherVideo(row, video)) throw new ServiceError('preparation_mismatch');
  return row;
}

/** Why a render cannot use the preparation it names, once its video is ready; null when it can or names none. */
export async function preparationFault(
  tx: Tx,
  render: RenderRow,
  video: Video,
  now: Date,
): Promise<ErrorCode | null> {
  if (render.preparationId === null) return null;
  const preparation = await tx.preparation.findUnique({ where: { id: render.preparationId } });
  if (preparation === null || preparation.expiresAt <= now) return 'preparation_expired';
  return isOfAnotherVideo(preparation, video) ? 'preparation_mismatch' : null;
}

/** The same asset is the same video; two assets are when their bytes are. */
function isOfAnotherVideo(preparation: PreparationRow, video: Video): boolean {
  if (preparation.videoAssetId === video.id) return false;
  const known = preparation.videoSha256 !== null && video.sha256 !== null;
  return known && preparation.videoSha256 !== video.sha256;
}
