import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { noSuchBucket, S3Error } from './protocol';

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

/** Bytes that are on disk but do not belong to a key yet. */
interface Draft {
  blob: string;
  size: number;
}

/**
 * One bucket on disk: `blobs/<random>` with bytes, `objects/<sha256 of key>.json` with descriptions. An object appears
 * and changes atomically (by a rename), so a killed process leaves either the old object or the new one.
 */
interface BucketDirectory {
  get(key: string): StoredObject | undefined;
  /** All objects in key order (by UTF-8 bytes, like S3). */
  list(): StoredObject[];
  /** Streams bytes to a new blob, and removes it again if the source fails. */
  draft(source: AsyncIterable<Buffer>): Promise<Draft>;
  /** A draft with the bytes of an existing object, without copying them. */
  draftOf(object: StoredObject): Promise<Draft>;
  discard(draft: Draft): Promise<void>;
  /**
   * Publishes a draft under a key. `check` gets the object that would be replaced and may throw; then nothing changes.
   */
  commit(
    draft: Draft,
    description: Omit<StoredObject, 'blob' | 'size'>,
    check: (existing: StoredObject | undefined) => void,
  ): Promise<StoredObject>;
  remove(key: string): Promise<void>;
  open(object: StoredObject): Promise<FileHandle>;
}

/** Opens the directory, creating it if necessary, and reads its index. */
async function openBucketDirectory(path: string): Promise<BucketDirectory> {
  const blobs = join(path, 'blobs');
  const descriptions = join(path, 'objects');
  await mkdir(blobs, { recursive: true });
  await mkdir(descriptions, { recursive: true });
  const objects = new Map<string, StoredObject>();
  for (const name of await readdir(descriptions)) {
    if (!name.endsWith('.json')) continue;
    const object = parseStoredObject(await readFile(join(descriptions, name), 'utf8'));
    objects.set(object.key, object);
  }

  const describedIn = (key: string) =>
    join(descriptions, `${createHash('sha256').update(key).digest('hex')}.json`);
  const removeBlob = (blob: string) => rm(join(blobs, blob), { force: true });
  const oneAtATime = createSequence();

  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
    draft: async (source) => {
      const blob = randomUUID();
      const file = createWriteStream(join(blobs, blob));
      try {
        await pipeline(source, file);
      } catch (error) {
        await removeBlob(blob);
        throw error;
      }
      return { blob, size: file.bytesWritten };
    },
    draftOf: async (object) => {
      const blob = randomUUID();
      await link(join(blobs, object.blob), join(blobs, blob));
      return { blob, size: object.size };
    },
    discard: (draft) => removeBlob(draft.blob),
    commit: (draft, description, check) =>
      oneAtATime(async () => {
        const existing = objects.get(description.key);
        check(existing);
        const object = { ...description, ...draft };
        const target = describedIn(object.key);
        await writeFile(`${target}.new`, JSON.stringify(object));
        await rename(`${target}.new`, target);
        objects.set(object.key, object);
        if (existing !== undefined) await removeBlob(existing.blob);
        return object;
      }),
    remove: (key) =>
      oneAtATime(async () => {
        const existing = objects.get(key);
        if (existing === undefined) return;
        objects.delete(key);
        await rm(describedIn(key), { force: true });
        await removeBlob(existing.blob);
      }),
    open: (object) => open(join(blobs, object.blob)),
  };
}

/** Runs tasks in sequence, so that a condition still holds when the dependent write happens. */
function createSequence(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}

/** The description of an object, without its bytes. */
export interface StoredObject {
  key: string;
  /** File with the bytes. It is never rewritten, so a reader can finish what it began. */
  blob: string;
  size: number;
  /** Hex MD5, without quotes. */
  etag: string;
  contentType: string;
  /** `x-amz-meta-*` headers by their full lower-case name. */
  metadata: Readonly<Record<string, string>>;
  modifiedAtMs: number;
  /** Whether everybody may read it; absent for no. */
  publicRead?: boolean;
}

/** Reads an object's description from its file. Throws if the file is not one. */
function parseStoredObject(text: string): StoredObject {
  const value: unknown = JSON.parse(text);
  if (!isStoredObject(value)) throw new Error('not an object description');
  return value;
}

function isStoredObject(value: unknown): value is StoredObject {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Partial<Record<keyof StoredObject, unknown>> = value;
  return (
    ['key', 'blob', 'etag', 'contentType'].every((name) => typeof Reflect.get(fields, name) === 'string') &&
    typeof fields.size === 'number' &&
    typeof fields.modifiedAtMs === 'number' &&
    typeof fields.metadata === 'object'
  );
}
