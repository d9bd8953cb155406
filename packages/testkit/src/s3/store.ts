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
}

export type BucketDirectory = Awaited<ReturnType<typeof openBucketDirectory>>;

/**
 * Opens one bucket on disk, creating its directory if necessary: `blobs/<random>` with bytes, `objects/<sha256 of
 * key>.json` with descriptions. An object appears and changes atomically (by a rename), so a killed process leaves
 * either the old object or the new one.
 */
async function openBucketDirectory(path: string) {
  const blobs = join(path, 'blobs');
  const descriptions = join(path, 'objects');
  await mkdir(blobs, { recursive: true });
  await mkdir(descriptions, { recursive: true });
  const objects = new Map<string, StoredObject>();
  for (const name of await readdir(descriptions)) {
    if (!name.endsWith('.json')) continue;
    // Only `commit` writes there.
    const object = JSON.parse(await readFile(join(descriptions, name), 'utf8')) as StoredObject;
    objects.set(object.key, object);
  }

  const corsFile = join(path, 'cors.json');
  let corsRules: CorsRule[] = [];
  // Only `setCorsRules` writes there.
  if (existsSync(corsFile)) corsRules = JSON.parse(await readFile(corsFile, 'utf8')) as CorsRule[];

  const describedIn = (key: string) =>
    join(descriptions, `${createHash('sha256').update(key).digest('hex')}.json`);
  const discard = ({ blob }: Blob) => rm(join(blobs, blob), { force: true });

  return {
    corsRules: (): readonly CorsRule[] => corsRules,
    setCorsRules: async (rules: CorsRule[]): Promise<void> => {
      await writeFile(corsFile, JSON.stringify(rules));
      corsRules = rules;
    },
    get: (key: string): StoredObject | undefined => objects.get(key),
    /** The objects with this prefix that come after this key, in key order (by UTF-8 bytes, like S3). */
    list: (prefix: string, after: string): StoredObject[] =>
      [...objects.values()]
        .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, after) > 0)
        .sort((a, b) => compareKeys(a.key, b.key)),
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
      const replaced = objects.get(description.key);
      const object = { ...description, ...draft, modifiedAtMs: Date.now() };
      const file = describedIn(object.key);
      // Synchronous, so that two writes of one key cannot mix.
      writeFileSync(`${file}.new`, JSON.stringify(object));
      renameSync(`${file}.new`, file);
      objects.set(object.key, object);
      if (replaced !== undefined) await discard(replaced);
      return object;
    },
    remove: async (key: string): Promise<void> => {
      const removed = objects.get(key);
      if (removed === undefined) return;
      rmSync(describedIn(key));
      objects.delete(key);
      await discard(removed);
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
