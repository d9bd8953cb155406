import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3';
import { type Bucket } from './s3-client';
import { mapErrors, StorageError } from './storage-error';

/** Stored versions of objects, those that are hidden by a delete marker or a newer version included. */
export interface VersionTotals {
  readonly objects: number;
  readonly bytes: number;
}

/** One version of an object, or a delete marker. */
export interface Version {
  readonly key: string;
  /** Undefined where the store gives none. */
  readonly versionId: string | undefined;
  /** Undefined for a delete marker. */
  readonly sizeBytes: number | undefined;
  readonly isLatest: boolean;
  readonly modifiedAt: Date;
}

/** What is stored under a prefix, without changing it. */
export async function countVersions(bucket: Bucket, prefix: string): Promise<VersionTotals> {
  let [objects, bytes] = [0, 0];
  for await (const page of versionPages(bucket, prefix)) {
    const stored = page.flatMap(({ sizeBytes }) => sizeBytes ?? []);
    objects += stored.length;
    bytes += stored.reduce((sum, size) => sum + size, 0);
  }
  return { objects, bytes };
}

/**
 * How often a prefix is looked through: once to delete, once more to see that nothing is left, and the rest for what was
 * stored meanwhile.
 */
const LOOKS_MAX = 5;

/**
 * Deletes every version and every delete marker under a prefix, and looks again until nothing is there. Returns what it
 * deleted. Throws StorageError `unavailable` if something keeps coming back.
 */
export async function eraseVersions(bucket: Bucket, prefix: string): Promise<VersionTotals> {
  let [objects, bytes] = [0, 0];
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    let found = false;
    for await (const page of versionPages(bucket, prefix)) {
      found ||= page.length > 0;
      await Promise.all(page.map((version) => deleteVersion(bucket, version)));
      const stored = page.flatMap(({ sizeBytes }) => sizeBytes ?? []);
      objects += stored.length;
      bytes += stored.reduce((sum, size) => sum + size, 0);
    }
    if (!found) return { objects, bytes };
  }
  throw new StorageError('unavailable', `erase ${prefix}, under which something keeps being stored`);
}

/** An upload in parts that nobody has completed. */
export interface IncompleteUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** All incomplete multipart uploads of the bucket. The service begins none itself, so there are few. */
export async function listIncompleteUploads({ client, bucket }: Bucket): Promise<IncompleteUpload[]> {
  const found: IncompleteUpload[] = [];
  let next: Pick<ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'> | null = {};
  while (next !== null) {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket: bucket, ...next });
    const page: ListMultipartUploadsCommandOutput = await mapErrors('list multipart uploads', undefined, () =>
      client.send(command),
    );
    for (const { Key: key, UploadId: uploadId } of page.Uploads ?? [])
      if (key !== undefined && uploadId !== undefined) found.push({ key, uploadId });
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    next = IsTruncated === true ? { KeyMarker, UploadIdMarker } : null;
  }
  return found;
}

/** One that is gone already is no error. */
export async function abortUpload(
  { client, bucket }: Bucket,
  { key, uploadId }: IncompleteUpload,
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId });
  try {
    await mapErrors(`abort the upload of ${key}`, undefined, () => client.send(command));
  } catch (error) {
    if (!(error instanceof StorageError) || error.kind !== 'not_found') throw error;
  }
}

/** Everything under a prefix in the order of its keys, page by page. */
export async function* versionPages({ client, bucket }: Bucket, prefix: string): AsyncGenerator<Version[]> {
  let next: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> | null = {};
  while (next !== null) {
    const command = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, ...next });
    const page: ListObjectVersionsCommandOutput = await mapErrors('list versions', undefined, () =>
      client.send(command),
    );
    const { Versions = [], DeleteMarkers = [] } = page;
    yield [...Versions, ...DeleteMarkers.map((marker) => ({ ...marker, Size: undefined }))].flatMap(
      ({ Key: key, VersionId: versionId, Size: sizeBytes, IsLatest, LastModified: modifiedAt }) =>
        key === undefined || modifiedAt === undefined
          ? []
          : { key, versionId, sizeBytes, isLatest: IsLatest === true, modifiedAt },
    );
    const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    next = IsTruncated === true ? { KeyMarker, VersionIdMarker } : null;
  }
}

/** One request for each: some stores (Ceph) want a right on the bucket itself for the operation that takes many. */
export async function deleteVersion(
  { client, bucket }: Bucket,
  { key, versionId }: Pick<Version, 'key' | 'versionId'>,
): Promise<void> {
  const command = new DeleteObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(versionId === undefined ? {} : { VersionId: versionId }),
  });
  await mapErrors(`delete a version of ${key}`, undefined, () => client.send(command));
}
