import { type Asset, type Media } from '@lipsync/contract';
import { parseMediaType } from './media-type';
import { type AssetRow } from './rows';
import { ASSET_STATES } from './states';
import { storedErrorBody } from './stored-error';

/**
 * The contract requires media from the start: until the file is probed, the row holds its declared size, 0 s and
 * "unknown".
 */
function mediaView(row: AssetRow): Media {
  const { width, height, frames, fps } = row;
  return {
    size_bytes: row.sizeBytes,
    duration_seconds: row.durationSeconds,
    codec: row.codec,
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(frames === null ? {} : { frames }),
    ...(fps === null ? {} : { fps }),
  };
}

/** An asset as the contract shows it. */
export function assetResource(row: AssetRow): Asset {
  const status = ASSET_STATES.parse(row.status);
  return {
    id: row.id,
    media_type: parseMediaType(row.mediaType),
    status,
    stage: row.stage,
    ...(row.contentType === null ? {} : { content_type: row.contentType }),
    media: mediaView(row),
    ...(status === 'failed' ? { error: storedErrorBody(row) } : {}),
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}
