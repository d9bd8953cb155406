import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Manifest, parseManifest, publishPack } from '@lipsync/engines';
import { MANIFEST_FILE, PackError, packFiles, packVersion, sha256 } from '@lipsync/model-pack';
import { type Logger } from '@lipsync/runtime';
import { type Storage, StorageError } from '@lipsync/storage';

interface StoredPacksOptions {
  readonly storage: Pick<Storage, 'list' | 'getBuffer' | 'getToFile'>;
  /** Key prefix of the packs in the store, one folder per pack. */
  readonly prefix: string;
  /** Where the packs are put, under the same names. */
  readonly packsDir: string;
  /** Names of the wanted folders. If absent: the face analyzer's, and all packs for one of `engines`. */
  readonly names?: readonly string[];
  readonly engines: readonly Engine[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A folder in the store whose manifest says that it is a pack. Its files are unknown until they are fetched. */
interface StoredPack {
  readonly name: string;
  readonly key: string;
  readonly bytes: Buffer;
  readonly manifest: Manifest;
}

/** Allowed folder names in the packs directory. Names that begin with a dot are of packs being written. */
const FOLDER = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Copies the packs under a key of the store to the packs directory. Each pack appears there complete and verified
 * (every SHA-256 that its manifest names) or not at all. A pack that is already there is verified and not fetched
 * again; everything else in the directory is left alone. Tries all packs. Rejects with PackError when one of them is
 * unusable or missing, and with StorageError when the store cannot be read.
 */
export async function fetchStoredPacks(options: StoredPacksOptions): Promise<void> {
  const { logger, packsDir, signal } = options;
  const problems: PackError[] = [];
  let good = 0;
  for (const folder of await foldersIn(options)) {
    try {
      const stored = await readManifest(options, folder);
      if (!options.names && !isWanted(stored.manifest, options.engines)) continue;
      let fetched = false;
      const pack = await publishPack(join(packsDir, stored.name), sha256(stored.bytes), async (directory) => {
        fetched = true;
        await fill(options, stored, directory);
      });
      logger.info(fetched ? 'model pack fetched' : 'model pack is there already', {
        pack: packVersion(pack),
        pack_dir: pack.dir,
      });
      good++;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PackError)) throw error;
      logger.error('model pack refused', { key: folder.key, reason: error.reason, problem: error.message });
      problems.push(error);
    }
  }
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  if (good === 0) throw new PackError('pack_missing', `${options.prefix}: the store holds no pack here`);
}

/** The named folders; if none were named, every folder with a manifest. */
async function foldersIn({
  storage,
  prefix,
  names,
}: StoredPacksOptions): Promise<{ name: string; key: string }[]> {
  const base = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  if (names) return names.map((name) => ({ name, key: `${base}${name}` }));
  const folders: { name: string; key: string }[] = [];
  for await (const key of storage.list(base)) {
    const [name = '', file, ...deeper] = key.slice(base.length).split('/');
    if (file === MANIFEST_FILE && deeper.length === 0 && FOLDER.test(name))
      folders.push({ name, key: `${base}${name}` });
  }
  return folders;
}

async function readManifest(
  { storage }: StoredPacksOptions,
  { name, key }: { name: string; key: string },
): Promise<StoredPack> {
  const bytes = await fromStore(key, MANIFEST_FILE, (object) => storage.getBuffer(object));
  return { name, key, bytes, manifest: parseManifest(key, bytes) };
}

/** Does what `read` does, but throws PackError when the folder lacks the file. */
async function fromStore<T>(folderKey: string, file: string, read: (key: string) => Promise<T>): Promise<T> {
  try {
    return await read(`${folderKey}/${file}`);
  } catch (cause) {
    if (!(cause instanceof StorageError) || cause.kind !== 'not_found') throw cause;
    throw new PackError('file_missing', `${folderKey}: ${file} is not in the store`, { cause });
  }
}

function isWanted({ engine }: Manifest, engines: readonly Engine[]): boolean {
  return engine === 'analyzer' || engines.includes(engine);
}

/** Fetches the pack's files in parallel: one connection does not saturate the network of a machine with a GPU. */
async function fill(
  { storage, signal }: StoredPacksOptions,
  { key, bytes, manifest }: StoredPack,
  directory: string,
): Promise<void> {
  await writeFile(join(directory, MANIFEST_FILE), bytes);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const fetching = packFiles(manifest).map((file) =>
    fromStore(key, file, (object) =>
      storage.getToFile(object, join(directory, file), { signal: stop }),
    ).catch((error: unknown) => failed.abort(error)),
  );
  // Wait even after a failure: the folder is removed next, and nothing may still be writing into it.
  await Promise.all(fetching);
  failed.signal.throwIfAborted();
}
