import { type AssetRow, type UploadRow } from '@lipsync/domain';
import { type Asset, type Upload } from '@lipsync/prisma';

export function assetRow(asset: Asset): AssetRow {
  return { ...asset, sizeBytes: Number(asset.sizeBytes) };
}

export function uploadRow(upload: Upload): UploadRow {
  return { ...upload, sizeBytes: Number(upload.sizeBytes) };
}
