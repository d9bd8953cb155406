import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BucketDirectory, openBucketDirectory } from './bucket-directory';
import { noSuchBucket, S3Error } from './s3-error';

/** All buckets of a server. */
export interface Store {
  /** Throws `NoSuchBucket`. */
  bucket(name: string): BucketDirectory;
  /** Does nothing if the bucket exists. Throws `InvalidBucketName`. */
  createBucket(name: string): Promise<void>;
}

/** Opens the buckets under `dataDir`, creating the directory if necessary. */
export async function openStore(dataDir: string): Promise<Store> {
  await mkdir(dataDir, { recursive: true });
  const buckets = new Map<string, BucketDirectory>();
  for (const entry of await readdir(dataDir, { withFileTypes: true })) {
    if (entry.isDirectory()) buckets.set(entry.name, await openBucketDirectory(join(dataDir, entry.name)));
  }
  return {
    bucket: (name) => {
      const bucket = buckets.get(name);
      if (bucket === undefined) throw noSuchBucket();
      return bucket;
    },
    createBucket: async (name) => {
      if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) {
        throw new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.');
      }
      if (!buckets.has(name)) buckets.set(name, await openBucketDirectory(join(dataDir, name)));
    },
  };
}
