import { DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { sendOptions } from './send-options';
import { mapErrors, StorageError } from './storage-error';

/** Keys that S3 takes in one request. */
const BATCH = 1000;

/** Deletes objects; absent ones are no error. Throws `unavailable` when any of them could not be deleted. */
export async function deleteObjects(
  { client, bucket }: { client: S3Client; bucket: string },
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let start = 0; start < keys.length; start += BATCH) {
    const batch = keys.slice(start, start + BATCH).map((Key) => ({ Key }));
    await mapErrors('delete', signal, async () => {
      const answer = await client.send(
        new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: batch, Quiet: true } }),
        sendOptions(signal),
      );
      if ((answer.Errors ?? []).length > 0) throw new StorageError('unavailable', 'delete');
    });
  }
}
