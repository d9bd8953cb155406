import {
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  HeadBucketCommand,
  NotFound,
  type S3Client,
} from '@aws-sdk/client-s3';
import { mapErrors } from './storage-error';

/** Creates the bucket. Returns false if it already exists. Safe under concurrent calls. */
export async function createBucket({
  client,
  bucket,
}: {
  client: S3Client;
  bucket: string;
}): Promise<boolean> {
  return mapErrors('create bucket', undefined, async () => {
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }));
      return false;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
    try {
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      return true;
    } catch (error) {
      if (error instanceof BucketAlreadyOwnedByYou) return false;
      throw error;
    }
  });
}
