import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileDigest } from './file-digest';

/** Files by their content, so that the engines of one render and repeated renders fetch an input once. */
export interface DiskCache {
  /**
   * Places the file with this SHA-256 (hex) at `target`, calling `fetch` when it is not at hand. The target is a hard
   * link: evicting the cached name never takes a file away from a job. Rejects with CacheMismatch when the fetched
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

/**
 * A cache in `folder` of at most `maxBytes` once a call has ended; least recently used files go first. The folder
 * belongs to this process alone: what an earlier process left unfinished there is removed.
 */
export async function createDiskCache(options: { folder: string; maxBytes: number }): Promise<DiskCache> {
  const { folder, maxBytes } = options;
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

  return {
    async place(sha256, target, fetch) {
      if (!isDigest(sha256)) throw new CacheMismatch('not a SHA-256 digest');
      const cached = join(folder, sha256);
      if (await linkIfPresent(cached, target)) {
        const now = new Date();
        await utimes(target, now, now);
        return 'hit';
      }
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

async function linkIfPresent(cached: string, target: string): Promise<boolean> {
  try {
    await link(cached, target);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Some file systems allow no more links to a file, or none at all. */
async function linkOrCopy(cached: string, target: string): Promise<void> {
  try {
    await link(cached, target);
  } catch (error) {
    if (!isCode(error, 'EMLINK') && !isCode(error, 'EPERM') && !isCode(error, 'ENOTSUP')) throw error;
    await copyFile(cached, target);
  }
}

const isDigest = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

function ignoreMissing(error: unknown): undefined {
  if (!isCode(error, 'ENOENT')) throw error;
  return undefined;
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
