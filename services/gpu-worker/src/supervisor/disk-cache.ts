import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileDigest } from './file-digest';

/** Files by their content, so that the engines of one render and repeated renders fetch an input once. */
export interface DiskCache {
  /**
   * Places the file with this SHA-256 (hex) at `target`, calling `fetch` when it is not at hand. The target is a hard
   * link, or a copy where there can be none: evicting the cached name never takes a file away from a job. Rejects with CacheMismatch when the fetched
   * bytes have another digest, and with whatever `fetch` rejects with.
   */
  place(
    sha256: string,
    target: string,
    fetch: (path: string) => Promise<unknown>,
  ): Promise<'hit' | 'fetched'>;
}

export class CacheMismatch extends Error {
  override readonly name = 'CacheMismatch';
}

export interface DiskCacheOptions {
  readonly folder: string;
  readonly maxBytes: number;
  /** Makes a hard link; rejects with EPERM, EMLINK, ENOTSUP or EXDEV where there can be none. The system's unless told. */
  readonly link?: (existing: string, target: string) => Promise<void>;
}

/** Some file systems allow no more links to a file, or none at all; and none leads to another file system. */
const NO_LINKS = ['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV'];

/**
 * A cache in `folder` of at most `maxBytes` once a call has ended; least recently used files go first. The folder
 * belongs to this process alone: what an earlier process left unfinished there is removed.
 */
export async function createDiskCache(options: DiskCacheOptions): Promise<DiskCache> {
  const { folder, maxBytes, link: makeLink = link } = options;
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!isDigest(name)) await rm(join(folder, name), { recursive: true, force: true });
  }
  const fetching = new Map<string, Promise<void>>();

  async function fetchOnce(sha256: string, fetch: (path: string) => Promise<unknown>): Promise<void> {
    const partial = join(folder, `partial-${randomUUID()}`);
    try {
      await fetch(partial);
      if ((await fileDigest(partial)) !== sha256)
        throw new CacheMismatch('the stored file is not the one recorded');
      await rename(partial, join(folder, sha256));
    } finally {
      await rm(partial, { force: true });
    }
  }

  async function linkOrCopy(cached: string, target: string): Promise<void> {
    try {
      await makeLink(cached, target);
    } catch (error) {
      if (!isOneOf(NO_LINKS, error)) throw error;
      await copyFile(cached, target, constants.COPYFILE_FICLONE);
    }
  }

  async function placeIfPresent(cached: string, target: string): Promise<boolean> {
    try {
      const now = new Date();
      // First, and of the cached file: a copy has times of its own, and what is used now must not be evicted meanwhile.
      await utimes(cached, now, now);
      await linkOrCopy(cached, target);
      return true;
    } catch (error) {
      if (isOneOf(['ENOENT'], error)) return false;
      throw error;
    }
  }

  return {
    async place(sha256, target, fetch) {
      if (!isDigest(sha256)) throw new CacheMismatch('not a SHA-256 digest');
      const cached = join(folder, sha256);
      if (await placeIfPresent(cached, target)) return 'hit';
      let running = fetching.get(sha256);
      if (!running) {
        running = fetchOnce(sha256, fetch).finally(() => fetching.delete(sha256));
        fetching.set(sha256, running);
      }
      await running;
      await linkOrCopy(cached, target);
      await evict(folder, maxBytes);
      return 'fetched';
    },
  };
}

async function evict(folder: string, maxBytes: number): Promise<void> {
  const files: { path: string; bytes: number; usedMs: number }[] = [];
  for (const name of (await readdir(folder)).filter(isDigest)) {
    const path = join(folder, name);
    const found = await stat(path).catch(ignoreMissing);
    if (found) files.push({ path, bytes: found.size, usedMs: found.mtimeMs });
  }
  let total = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= maxBytes) return;
    await rm(file.path, { force: true });
    total -= file.bytes;
  }
}

const isDigest = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

function ignoreMissing(error: unknown): undefined {
  if (!isOneOf(['ENOENT'], error)) throw error;
  return undefined;
}

function isOneOf(codes: readonly string[], error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    codes.some((code) => code === error.code)
  );
}
