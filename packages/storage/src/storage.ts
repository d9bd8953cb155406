import {
  BucketAlreadyOwnedByYou,
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NotFound,
} from '@aws-sdk/client-s3';
import { type Clock, systemClock } from '@lipsync/runtime';
import { allowBrowsers, type BrowserAccess } from './cors';
import { forgetVersions, keepVersions, returnTo } from './history';
import {
  presignGet,
  type PresignGetOptions,
  presignPut,
  type PresignPutOptions,
  type SignedGet,
  type SignedPut,
} from './presign';
import { ATTEMPTS_MAX, type Bucket, createS3Client, sendOptions, type StorageOptions } from './s3-client';
import { mapErrors, StorageError } from './storage-error';
import { getBuffer, type GetOptions, getToFile, put, type PutOptions, type PutSource } from './transfer';
import {
  abortUpload,
  countVersions,
  eraseVersions,
  type IncompleteUpload,
  listIncompleteUploads,
  type VersionTotals,
} from './versions';

/** The object store. Every method throws `StorageError`, or the reason of the caller's own signal when it aborts. */
export interface Storage {
  put(key: string, source: PutSource, options: PutOptions): Promise<void>;
  getToFile(key: string, path: string, options?: GetOptions): Promise<void>;
  getBuffer(key: string): Promise<Buffer>;
  /** Null when the object does not exist. */
  head(key: string, options?: { signal?: AbortSignal }): Promise<ObjectInfo | null>;
  /** Copies within the store, only if the source still has this entity tag (`precondition_failed` otherwise). */
  copy(from: string, to: string, options: { ifMatch: string; signal?: AbortSignal }): Promise<void>;
  /** Deletes objects; missing ones are not an error. If some cannot be deleted, the others are, and this throws. */
  delete(keys: readonly string[], options?: { signal?: AbortSignal }): Promise<void>;
  /** All keys with this prefix, in order. */
  list(prefix: string): AsyncGenerator<string>;
  /** What is stored under these prefixes, hidden versions included. */
  countVersions(prefixes: readonly string[]): Promise<VersionTotals>;
  /** Deletes all versions and delete markers under these prefixes until nothing is there. Returns what it deleted. */
  eraseVersions(prefixes: readonly string[]): Promise<VersionTotals>;
  /** All multipart uploads of the bucket that nobody has completed. */
  listIncompleteUploads(): Promise<IncompleteUpload[]>;
  /** One that is gone already is no error. */
  abortUpload(upload: IncompleteUpload): Promise<void>;
  /** From now on the bucket keeps what is replaced or deleted, until `forgetVersions`. */
  keepVersions(): Promise<void>;
  /** Deletes what was replaced or deleted before a time. Returns how much. */
  forgetVersions(before: Date): Promise<number>;
  /** Brings the objects under a prefix back to a time, as far as the bucket has kept them. */
  returnTo(prefix: string, time: Date): Promise<{ restored: number; hidden: number }>;
  presignPut(key: string, options: PresignPutOptions): Promise<SignedPut>;
  presignGet(key: string, options: PresignGetOptions): Promise<SignedGet>;
  /** The origin of all signed URLs. */
  publicOrigin(): Promise<string>;
  /** Creates the bucket; returns false if it already exists. */
  createBucket(): Promise<boolean>;
  /** Lets pages of these origins use signed URLs, by a CORS rule of the bucket. Its other rules stay. */
  allowBrowsers(origins: readonly string[]): Promise<BrowserAccess>;
  /** Resolves when the bucket can be reached. */
  ping(options?: { signal?: AbortSignal }): Promise<void>;
  close(): void;
}

/** Separate clients sign URLs for the address that customers use, because the host is part of the signature. */
export function createStorage(options: StorageOptions & { clock?: Clock }): Storage {
  const { bucket } = options;
  const client = createS3Client(options, options.endpoint, ATTEMPTS_MAX);
  // One try consumes a body, which is a stream: `tryAgain` repeats the whole transfer instead of the SDK.
  const transferClient = createS3Client(options, options.endpoint, 1);
  const publicEndpoint = options.publicEndpoint ?? options.endpoint;
  const publicClient = createS3Client(options, publicEndpoint, 1);
  const uploadClient = createS3Client({ ...options, ...options.uploadCredentials }, publicEndpoint, 1);
  const store = { client, bucket };
  const transfers = { client: transferClient, bucket };
  const signer = { client: publicClient, bucket, clock: options.clock ?? systemClock };
  const uploadSigner = { ...signer, client: uploadClient };
  return {
    put: (key, source, putOptions) => put(transfers, key, source, putOptions),
    getToFile: (key, path, getOptions) => getToFile(transfers, key, path, getOptions),
    getBuffer: (key) => getBuffer(transfers, key),
    head: (key, headOptions) => head(store, key, headOptions?.signal),
    copy: (from, to, copyOptions) => copy(store, from, to, copyOptions),
    delete: (keys, deleteOptions) => deleteObjects(store, keys, deleteOptions?.signal),
    list: (prefix) => listKeys(store, prefix),
    countVersions: (prefixes) => countVersions(store, prefixes),
    eraseVersions: (prefixes) => eraseVersions(store, prefixes),
    listIncompleteUploads: () => listIncompleteUploads(store),
    abortUpload: (upload) => abortUpload(store, upload),
    keepVersions: () => keepVersions(store),
    forgetVersions: (before) => forgetVersions(store, before),
    returnTo: (prefix, time) => returnTo(store, prefix, time),
    presignPut: (key, signOptions) => presignPut(uploadSigner, key, signOptions),
    presignGet: (key, signOptions) => presignGet(signer, key, signOptions),
    publicOrigin: async () => {
      // Whether the bucket is part of the host name is up to the SDK.
      const address = await presignGet(signer, 'any', {
        filename: 'any',
        contentType: 'any/type',
        expiresSeconds: 1,
      });
      return new URL(address.url).origin;
    },
    createBucket: () => createBucket(store),
    allowBrowsers: (origins) => allowBrowsers(store, origins),
    ping: ({ signal } = {}) =>
      mapErrors('ping', signal, async () => {
        await client.send(new HeadBucketCommand({ Bucket: bucket }), sendOptions(signal));
      }),
    close: () => {
      for (const each of [client, transferClient, publicClient, uploadClient]) each.destroy();
    },
  };
}

async function copy(
  { client, bucket }: Bucket,
  from: string,
  to: string,
  { ifMatch, signal }: { ifMatch: string; signal?: AbortSignal },
): Promise<void> {
  const source = [bucket, ...from.split('/')].map(encodeURIComponent).join('/');
  await mapErrors('copy', signal, () =>
    client.send(
      new CopyObjectCommand({ Bucket: bucket, Key: to, CopySource: source, CopySourceIfMatch: ifMatch }),
      sendOptions(signal),
    ),
  );
}

/**
 * One request for each: DeleteObjects, which takes many keys, needs a right on the bucket itself with some stores
 * (Ceph), and the most that one resource has are a few keys.
 */
async function deleteObjects(
  { client, bucket }: Bucket,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const deletions = await Promise.allSettled(
    keys.map((key) =>
      mapErrors(`delete ${key}`, signal, () =>
        client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), sendOptions(signal)),
      ),
    ),
  );
  const failed = deletions.find((deletion) => deletion.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

interface ObjectInfo {
  sizeBytes: number;
  /** Entity tag as the store returns it, including quotes. Identifies this version in `copy`. */
  etag: string;
  contentType: string | null;
}

/** The store's metadata of an object, or null if there is none. */
async function head(
  { client, bucket }: Bucket,
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

/** All keys with this prefix, page by page. */
export async function* listKeys({ client, bucket }: Bucket, prefix: string): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    const page = await mapErrors('list', undefined, () => client.send(command));
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

/** Creates the bucket. Returns false if it already exists. Safe under concurrent calls. */
async function createBucket({ client, bucket }: Bucket): Promise<boolean> {
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
