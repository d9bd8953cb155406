import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
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

/** What is stored under these prefixes, without changing it. */
export async function countVersions(bucket: Bucket, prefixes: readonly string[]): Promise<VersionTotals> {
  return totalsOf(await findVersions(bucket, prefixes));
}

/**
 * How often prefixes are looked through: once to delete, once more to see that nothing is left, and the rest for what was
 * stored meanwhile.
 */
const LOOKS_MAX = 5;

/**
 * Deletes every version and every delete marker under these prefixes, and looks again until nothing is there. Returns what
 * it deleted. Throws StorageError `unavailable` if something keeps coming back.
 */
export async function eraseVersions(bucket: Bucket, prefixes: readonly string[]): Promise<VersionTotals> {
  const deleted: Version[] = [];
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const found = await findVersions(bucket, prefixes);
    if (found.length === 0) return totalsOf(deleted);
    await inParallel(found, (version) => deleteVersion(bucket, version));
    deleted.push(...found);
  }
  throw new StorageError('unavailable', `erase ${deleted.at(-1)?.key}, or what keeps being stored beside it`);
}

function totalsOf(versions: readonly Version[]): VersionTotals {
  const sizes = versions.flatMap(({ sizeBytes }) => sizeBytes ?? []);
  return { objects: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** A page of a listing takes about as long as looking for so many prefixes one by one. */
const WORTH_A_PAGE = 64;

/** Everything under these prefixes, none of which begins as another one does. */
function findVersions(bucket: Bucket, prefixes: readonly string[]): Promise<Version[]> {
  return findUnder(bucket, [...new Set(prefixes)].sort());
}

/**
 * Ids sort by time, so what one customer made lies close together, and few pages of all that begins as its prefixes do
 * show it all. Where too much of others lies in between, it looks for those of each next character by themselves.
 */
async function findUnder(bucket: Bucket, sorted: readonly string[]): Promise<Version[]> {
  const found: Version[] = [];
  if (sorted.length < WORTH_A_PAGE) {
    await inParallel(sorted, async (prefix) => {
      for await (const page of versionPages(bucket, prefix)) found.push(...page);
    });
    return found;
  }
  const start = sharedStart(sorted);
  const together = await findTogether(bucket, start, sorted);
  if (together !== null) return together;
  const characters = new Set(sorted.map((prefix) => prefix.charAt(start.length)));
  for (const character of characters) {
    const group = sorted.filter((prefix) => prefix.charAt(start.length) === character);
    found.push(...(await findUnder(bucket, group)));
  }
  return found;
}

/** What is under these prefixes, found among all that begins with `start`; null as soon as its pages are not worth it. */
async function findTogether(
  bucket: Bucket,
  start: string,
  sorted: readonly string[],
): Promise<Version[] | null> {
  const found: Version[] = [];
  let [worth, answered] = [0, 0];
  for (let next: Marker | null = {}; next !== null; worth += WORTH_A_PAGE) {
    if (answered < worth) return null;
    const page: Page = await readPage(bucket, { Prefix: start, ...next });
    for (const version of page.versions) {
      const upTo = countUpTo(sorted, version.key);
      if (upTo > 0 && version.key.startsWith(sorted[upTo - 1] ?? '')) found.push(version);
      answered = Math.max(answered, upTo);
    }
    next = page.next;
  }
  return found;
}

/** How many of these sorted texts are not greater than another one. */
function countUpTo(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') <= text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What all of these begin with. Of sorted texts, that is what the first and the last have in common. */
function sharedStart(sorted: readonly string[]): string {
  const [first = '', last = ''] = [sorted[0], sorted.at(-1)];
  let length = 0;
  while (length < first.length && first[length] === last[length]) length += 1;
  return first.slice(0, length);
}

/** Requests at once: fewer than the client has sockets, so that none waits for one until it is given up. */
const PARALLEL = 32;

/** Calls `work` for each item, a few at once, until one fails. Rejects with that failure when none is under way any more. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const failures: unknown[] = [];
  const takeTurns = async (): Promise<void> => {
    for (const item of waiting) {
      await work(item).catch((error: unknown) => failures.push(error));
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, takeTurns));
  if (failures.length > 0) throw failures[0];
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
export async function* versionPages(bucket: Bucket, prefix: string): AsyncGenerator<readonly Version[]> {
  for (let next: Marker | null = {}; next !== null;) {
    const page: Page = await readPage(bucket, { Prefix: prefix, ...next });
    yield page.versions;
    next = page.next;
  }
}

type Marker = Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'>;

interface Page {
  readonly versions: readonly Version[];
  /** Where it goes on; null if this is all. */
  readonly next: Marker | null;
}

async function readPage({ client, bucket }: Bucket, from: Marker & { Prefix: string }): Promise<Page> {
  const command = new ListObjectVersionsCommand({ Bucket: bucket, ...from });
  const page = await mapErrors('list versions', undefined, () => client.send(command));
  const { Versions = [], DeleteMarkers = [] } = page;
  const versions = [...Versions, ...DeleteMarkers.map((marker) => ({ ...marker, Size: undefined }))].flatMap(
    ({ Key: key, VersionId: versionId, Size: sizeBytes, IsLatest, LastModified: modifiedAt }) =>
      key === undefined || modifiedAt === undefined
        ? []
        : { key, versionId, sizeBytes, isLatest: IsLatest === true, modifiedAt },
  );
  const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
  return { versions, next: IsTruncated === true ? { KeyMarker, VersionIdMarker } : null };
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
