import { createHash, randomUUID } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CorsRule } from './cors';
import { S3Error } from './protocol';

/** All buckets of a server. */
export type Store = Awaited<ReturnType<typeof openStore>>;

/** Opens the buckets under `dataDir`, creating the directory if necessary. */
export async function openStore(dataDir: string) {
  await mkdir(dataDir, { recursive: true });
  const buckets = new Map<string, BucketDirectory>();
  for (const entry of await readdir(dataDir, { withFileTypes: true })) {
    if (entry.isDirectory()) buckets.set(entry.name, await openBucketDirectory(join(dataDir, entry.name)));
  }
  return {
    /** Throws `NoSuchBucket`. */
    bucket: (name: string): BucketDirectory => {
      const bucket = buckets.get(name);
      if (bucket === undefined) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
      return bucket;
    },
    /** Does nothing if the bucket exists. Throws `InvalidBucketName`. */
    createBucket: async (name: string): Promise<void> => {
      if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) {
        throw new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.');
      }
      if (!buckets.has(name)) buckets.set(name, await openBucketDirectory(join(dataDir, name)));
    },
  };
}

/** Bytes that are on disk. */
interface Blob {
  /** Their file. It is never rewritten, so a reader can finish what it began. */
  blob: string;
  size: number;
}

interface Description {
  key: string;
  /** Hex MD5, without quotes. */
  etag: string;
  contentType: string;
  /** Whether everybody may read it. */
  publicRead: boolean;
}

export interface StoredObject extends Blob, Description {
  modifiedAtMs: number;
  /** `null` in a bucket without versioning. */
  versionId: string;
}

/** What a plain DELETE leaves in a bucket with versioning. */
interface DeleteMarker {
  key: string;
  modifiedAtMs: number;
  versionId: string;
  isMarker: true;
}

type Version = StoredObject | DeleteMarker;

const isMarker = (version: Version): version is DeleteMarker => 'isMarker' in version;

export type BucketDirectory = Awaited<ReturnType<typeof openBucketDirectory>>;

/**
 * Opens one bucket on disk, creating its directory if necessary: `blobs/<random>` with bytes, `objects/<sha256 of
 * key>.json` with the descriptions of all versions of a key. An object appears and changes atomically (by a rename), so a
 * killed process leaves either the old object or the new one.
 */
async function openBucketDirectory(path: string) {
  const blobs = join(path, 'blobs');
  const descriptions = join(path, 'objects');
  await mkdir(blobs, { recursive: true });
  await mkdir(descriptions, { recursive: true });
  /** By key: the newest first, never empty. */
  const objects = new Map<string, Version[]>();
  for (const name of await readdir(descriptions)) {
    if (!name.endsWith('.json')) continue;
    // Only `describe` writes there.
    const versions = JSON.parse(await readFile(join(descriptions, name), 'utf8')) as Version[];
    for (const { key } of versions.slice(0, 1)) objects.set(key, versions);
  }
  /** Incomplete multipart uploads: their keys, by their ids. They are forgotten with the process. */
  const multipartUploads = new Map<string, string>();

  const versioningFile = join(path, 'versioned');
  const corsFile = join(path, 'cors.json');
  let corsRules: CorsRule[] = [];
  // Only `setCorsRules` writes there.
  if (existsSync(corsFile)) corsRules = JSON.parse(await readFile(corsFile, 'utf8')) as CorsRule[];

  const describedIn = (key: string) =>
    join(descriptions, `${createHash('sha256').update(key).digest('hex')}.json`);
  const discard = ({ blob }: Blob) => rm(join(blobs, blob), { force: true });
  const current = (key: string): StoredObject | undefined => {
    const newest = objects.get(key)?.[0];
    return newest === undefined || isMarker(newest) ? undefined : newest;
  };
  /** Makes these the versions of a key, all at once. Synchronous, so that two changes of one key cannot mix. */
  function describe(key: string, versions: Version[]): void {
    const file = describedIn(key);
    if (versions.length === 0) {
      rmSync(file, { force: true });
      objects.delete(key);
      return;
    }
    writeFileSync(`${file}.new`, JSON.stringify(versions));
    renameSync(`${file}.new`, file);
    objects.set(key, versions);
  }
  /** Replaces the newest version, or in a bucket with versioning adds one. */
  async function add(key: string, version: Version): Promise<void> {
    const before = objects.get(key) ?? [];
    const kept =
      version.versionId === 'null' ? before.filter(({ versionId }) => versionId !== 'null') : before;
    describe(key, [version, ...kept]);
    for (const replaced of before)
      if (!kept.includes(replaced) && !isMarker(replaced)) await discard(replaced);
  }
  const newVersionId = (): string => (existsSync(versioningFile) ? randomUUID() : 'null');

  return {
    corsRules: (): readonly CorsRule[] => corsRules,
    setCorsRules: async (rules: CorsRule[]): Promise<void> => {
      await writeFile(corsFile, JSON.stringify(rules));
      corsRules = rules;
    },
    get: current,
    /** The objects with this prefix that come after this key, in key order (by UTF-8 bytes, like S3). */
    list: (prefix: string, after: string): StoredObject[] =>
      [...objects.keys()]
        .filter((key) => key.startsWith(prefix) && compareKeys(key, after) > 0)
        .sort(compareKeys)
        .flatMap((key) => current(key) ?? []),
    /** From now on nothing is replaced, and a plain DELETE only hides. */
    keepVersions: (): Promise<void> => writeFile(versioningFile, ''),
    /** All versions and markers with this prefix, in key order, those of a key with the newest first. */
    versions: (prefix: string): Version[] =>
      [...objects.keys()]
        .filter((key) => key.startsWith(prefix))
        .sort(compareKeys)
        .flatMap((key) => objects.get(key) ?? []),
    multipartUploads,
    /** Streams bytes to a new blob, and removes it again if the source fails. */
    draft: async (source: AsyncIterable<Buffer>): Promise<Blob> => {
      const blob = randomUUID();
      const file = createWriteStream(join(blobs, blob));
      try {
        await pipeline(source, file);
      } catch (error) {
        await discard({ blob, size: 0 });
        throw error;
      }
      return { blob, size: file.bytesWritten };
    },
    /** A draft with the same bytes, without copying them. */
    draftOf: async ({ blob, size }: Blob): Promise<Blob> => {
      const copy = randomUUID();
      await link(join(blobs, blob), join(blobs, copy));
      return { blob: copy, size };
    },
    discard,
    /** Publishes a draft under a key. */
    commit: async (draft: Blob, description: Description): Promise<StoredObject> => {
      const object = { ...description, ...draft, modifiedAtMs: Date.now(), versionId: newVersionId() };
      await add(object.key, object);
      return object;
    },
    /** Removes an object, or in a bucket with versioning hides it. */
    remove: async (key: string): Promise<void> => {
      if (existsSync(versioningFile))
        return add(key, { key, modifiedAtMs: Date.now(), versionId: newVersionId(), isMarker: true });
      for (const version of objects.get(key) ?? []) if (!isMarker(version)) await discard(version);
      describe(key, []);
    },
    /** Removes one version, or one marker, for good. */
    removeVersion: async (key: string, versionId: string): Promise<void> => {
      const before = objects.get(key) ?? [];
      describe(
        key,
        before.filter((version) => version.versionId !== versionId),
      );
      for (const version of before)
        if (version.versionId === versionId && !isMarker(version)) await discard(version);
    },
    /**
     * The bytes from `start` to `end`, both included. Opened at once, before another request can replace the object and
     * remove its bytes.
     */
    read: ({ blob }: Blob, range: { start: number; end: number }): Readable =>
      createReadStream('', { fd: openSync(join(blobs, blob), 'r'), ...range }),
  };
}

function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
