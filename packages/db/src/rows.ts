import { type AssetRow, type UploadRow } from '@lipsync/domain';
import { type Asset, type Upload } from '@lipsync/prisma';

/** An upload as stored: with the entity tag that its completion recorded. */
export interface StoredUpload extends UploadRow {
  etag: string | null;
}

export function assetRow(asset: Asset): AssetRow {
  return { ...asset, sizeBytes: Number(asset.sizeBytes) };
}

export function uploadRow(upload: Upload): StoredUpload {
  return { ...upload, sizeBytes: Number(upload.sizeBytes) };
}
