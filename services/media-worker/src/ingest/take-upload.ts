import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type UploadRow } from '@lipsync/domain';
import { StorageError } from '@lipsync/storage';
import { type FetchedMedia, type IngestContext, type IngestTools } from './ingest-context';
import { IngestFailure } from './ingest-failure';

/**
 * Copies the bytes that an upload was completed with to a key that no signed URL can write to, then downloads that
 * copy, so that the bytes examined are the bytes used. Throws IngestFailure, StorageError.
 */
export async function takeUpload(
  { storage }: IngestTools,
  { folder, objectKey, signal, report }: IngestContext,
  upload: UploadRow,
): Promise<FetchedMedia> {
  if (upload.etag === null) throw new Error('the upload was never completed');
  report('verifying', 0);
  try {
    await storage.copy(upload.stagingKey, objectKey, { ifMatch: upload.etag, signal });
  } catch (error) {
    if (!(error instanceof StorageError) || error.kind !== 'precondition_failed') throw error;
    // Not `media_corrupt`: nothing is wrong with the file. What was completed is gone, and uploading again helps.
    throw new IngestFailure('storage_failed', 'the bytes were replaced after the upload was completed', {
      isFinal: true,
    });
  }
  const path = join(folder, 'media');
  await storage.getToFile(objectKey, path, { signal });
  const { size } = await stat(path);
  if (size !== upload.sizeBytes)
    throw new IngestFailure('storage_failed', 'the stored size is not the declared one', { isFinal: true });
  return {
    path,
    sizeBytes: size,
    contentType: upload.contentType,
    sha256: await digestOf(path),
    stored: true,
  };
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
