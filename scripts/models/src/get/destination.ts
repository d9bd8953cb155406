import { access, constants, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { type Pack, parseManifest } from '@lipsync/engines';
import { MANIFEST_FILE, packFiles, sha256 } from '@lipsync/model-pack';
import { loadEnv, sharedSettings, STORAGE_SETTINGS } from '@lipsync/runtime';
import { openStorage, type Storage } from '@lipsync/storage';
import { packAt, placePack, refuseReserved } from '../packs';

/** Where a pack is installed. */
export interface Destination {
  /** A folder that needs room for the pack; absent if it goes elsewhere. */
  readonly folder?: string;
  /** Rejects if a pack of this name may not be installed there. Worth knowing before it is made. */
  refuse(name: string): Promise<void>;
  /** Installs a verified pack, complete or not at all. */
  install(pack: Pack): Promise<Row>;
}

/** A folder of packs. */
export function folderDestination(folder: string, { replace }: { replace: boolean }): Destination {
  return {
    folder,
    async refuse(name) {
      refuseReserved(name);
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
      const target = path.join(folder, name);
      if (!replace && (await packAt(target)) !== null) throw new Error(occupied(target));
    },
    install: (pack) => placePack(pack, folder, { replace }),
  };
}

const S3_ADDRESS = /^s3:\/\/([^/]+)\/?(.*?)\/?$/;

/** Whether `to` names an object store rather than a folder. */
export const isStoreAddress = (to: string): boolean => to.startsWith('s3://');

/** Does something with the destination at `s3://bucket/prefix`, in the store of the S3_… settings. */
export async function withStoreDestination<T>(
  to: string,
  { replace }: { replace: boolean },
  action: (destination: Destination) => Promise<T>,
): Promise<T> {
  const [, bucket = '', prefix = ''] = S3_ADDRESS.exec(to) ?? [];
  if (prefix === '') throw new Error(`${to}: give a bucket and a prefix, such as s3://models/packs`);
  const env = loadEnv(sharedSettings.pick(STORAGE_SETTINGS), { ...process.env, S3_BUCKET: bucket });
  const storage = openStorage(env);
  try {
    return await action(storeDestination(storage, prefix, { replace }));
  } finally {
    storage.close();
  }
}

/** Packs under a prefix of the object store, from where workers fetch them. */
export function storeDestination(
  storage: Pick<Storage, 'head' | 'getBuffer' | 'put' | 'delete'>,
  prefix: string,
  { replace }: { replace: boolean },
): Destination {
  const keyOf = (name: string, file: string): string => `${prefix}/${name}/${file}`;

  async function storedManifest(name: string): Promise<Buffer | null> {
    const key = keyOf(name, MANIFEST_FILE);
    return (await storage.head(key)) === null ? null : storage.getBuffer(key);
  }

  return {
    async refuse(name) {
      refuseReserved(name);
      if (!replace && (await storedManifest(name)) !== null) throw new Error(occupied(`${prefix}/${name}`));
    },
    async install(pack) {
      const { name, version } = pack.manifest;
      const row = { folder: `${prefix}/${name}`, engine: pack.manifest.engine, name, version };
      const before = await storedManifest(name);
      if (before !== null && sha256(before) === pack.digest)
        return { ...row, state: 'was installed already' };
      if (before !== null && !replace) throw new Error(occupied(`${prefix}/${name}`));
      // A folder without a manifest is no pack to those who fetch: it goes first, and comes last.
      const contentType = 'application/octet-stream';
      if (before !== null) await storage.delete([keyOf(name, MANIFEST_FILE)]);
      for (const file of packFiles(pack.manifest))
        await storage.put(keyOf(name, file), { file: path.join(pack.dir, file) }, { contentType });
      const manifest = { file: path.join(pack.dir, MANIFEST_FILE) };
      await storage.put(keyOf(name, MANIFEST_FILE), manifest, { contentType: 'application/json' });
      if (before !== null) await removeLeftovers(name, before, pack);
      return { ...row, state: before === null ? 'installed' : 'replaced' };
    },
  };

  async function removeLeftovers(name: string, before: Buffer, pack: Pack): Promise<void> {
    const kept = new Set(packFiles(pack.manifest));
    const gone = packFiles(parseManifest(name, before)).filter((file) => !kept.has(file));
    await storage.delete(gone.map((file) => keyOf(name, file)));
  }
}

function occupied(place: string): string {
  return `${place} holds a pack already; --replace installs over it, --name gives this one another name`;
}
