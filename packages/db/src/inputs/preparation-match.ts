import { type ErrorCode } from '@lipsync/contract';
import { type PreparationRow } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';

/** The fields of a video asset that decide whether a preparation analysed the same video. */
type Video = Pick<Asset, 'id' | 'sha256'>;

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

/**
 * Equal assets are the same video; different assets are the same video if their bytes are equal. `preparation_refusal`
 * (migration `create_render`) applies the same rule in SQL when a render is created: change both together.
 */
function isOfAnotherVideo(preparation: PreparationRow, video: Video): boolean {
  if (preparation.videoAssetId === video.id) return false;
  const known = preparation.videoSha256 !== null && video.sha256 !== null;
  return known && preparation.videoSha256 !== video.sha256;
}
