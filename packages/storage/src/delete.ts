import { DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { sendOptions } from './send-options';
import { mapErrors, StorageError } from './storage-error';

/** Maximum number of keys that S3 accepts in one request. */
const BATCH = 1000;

/** Refusals of a single key that a retry may not meet. Others (access, retention) are permanent. */
const PASSING: ReadonlySet<string> = new Set(['InternalError', 'SlowDown', 'ServiceUnavailable']);

/**
 * Deletes objects; missing ones are not an error. Throws if any of them could not be deleted, with the first failure as
 * the cause.
 */
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
      const [refusal] = answer.Errors ?? [];
      if (refusal === undefined) return;
      const cause = new Error(`${refusal.Key ?? 'an object'}: ${refusal.Code ?? 'no code'}`);
      throw new StorageError(
        PASSING.has(refusal.Code ?? 'InternalError') ? 'unavailable' : 'rejected',
        'delete',
        { cause },
      );
    });
  }
}
