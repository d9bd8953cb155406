import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { sendOptions } from './send-options';
import { mapErrors, StorageError } from './storage-error';

export interface ObjectInfo {
  sizeBytes: number;
  /** Entity tag as the store returns it, including quotes. Identifies this version in `copy`. */
  etag: string;
  contentType: string | null;
}

/** The store's metadata of an object, or null if there is none. */
export async function head(
  { client, bucket }: { client: S3Client; bucket: string },
  key: string,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo | null> {
  try {
    return await mapErrors('head', signal, async () => {
      const answer = await client.send(
        new HeadObjectCommand({ Bucket: bucket, Key: key }),
        sendOptions(signal),
      );
      if (answer.ContentLength === undefined || answer.ETag === undefined) {
        throw new StorageError('unavailable', 'head');
      }
      return {
        sizeBytes: answer.ContentLength,
        etag: answer.ETag,
        contentType: answer.ContentType ?? null,
      };
    });
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'not_found') return null;
    throw error;
  }
}
