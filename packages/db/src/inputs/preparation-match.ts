import { type ErrorCode } from '@lipsync/contract';
import { type PreparationRow } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';

/** The parts of a video asset that say whether a preparation analysed it. */
type Video = Pick<Asset, 'id' | 'sha256'>;

/** Why a render cannot use the preparation it names (null: it is gone), once its video is ready; null when it can. */
export function preparationFault(
  preparation: PreparationRow | null,
  video: Video,
  now: Date,
): ErrorCode | null {
  if (preparation === null || preparation.expiresAt <= now) return 'preparation_expired';
  return isOfAnotherVideo(preparation, video) ? 'preparation_mismatch' : null;
}

/**
 * The same asset is the same video; two assets are when their bytes are. `preparation_refusal` (migration `create_render`)
 * decides it in SQL when a render is created: a change here is one there.
 */
function isOfAnotherVideo(preparation: PreparationRow, video: Video): boolean {
  if (preparation.videoAssetId === video.id) return false;
  const known = preparation.videoSha256 !== null && video.sha256 !== null;
  return known && preparation.videoSha256 !== video.sha256;
}
