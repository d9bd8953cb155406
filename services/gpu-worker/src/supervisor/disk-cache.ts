import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '@lipsync/model-pack';

/**
 * A file by its customer and content, so that no customer can learn from a job's duration that another has the same
 * file.
 */
interface OwnContent {
  readonly customerId: string;
  /** Hex. */
  readonly sha256: string;
}

export type DiskCache = Awaited<ReturnType<typeof createDiskCache>>;

/** Writes the bytes to this path. */
type Fetch = (path: string) => Promise<unknown>;
type Outcome = 'hit' | 'fetched';

export class CacheMismatch extends Error {
  override readonly name = 'CacheMismatch';
}

interface DiskCacheOptions {
  readonly folder: string;
  readonly maxBytes: number;
  /**
   * Makes a hard link; rejects with EPERM, EMLINK, ENOTSUP or EXDEV where links are impossible. Default: the system's.
   */
  readonly link?: (existing: string, target: string) => Promise<void>;
}

/** Some file systems allow no further links to a file, or none at all; none links to another file system. */
const NO_LINKS = ['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV'];

/**
 * Files by content, so that the engines of one render and repeated renders fetch an input only once. They lie in
 * `folder`, of at most `maxBytes` once no call is in progress; the least recently used files are evicted first. When the
 * disk has no room for another file, all that no job is using are. The folder belongs to this process alone: what an
 * earlier process left unfinished there is removed.
 */
export async function createDiskCache(options: DiskCacheOptions) {
  const { folder, maxBytes, link: makeLink = link } = options;
  await mkdir(folder, { recursive: true });
  const found = await readdir(folder);
  for (const name of found.filter((name) => !isCached(name))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
  /**
   * Files of an earlier process whose content has not been verified yet. A file may be truncated despite its final
   * name: after a power loss, a rename can survive when the bytes do not. Reading each file once detects more than
   * flushing would prevent.
   */
  const untried = new Set(found.filter(isCached));
  const bringing = new Map<string, Promise<Outcome>>();
  /** Files being placed, once per call: they are not evicted between their arrival and their link. */
  const placing: string[] = [];
  let evicting: Promise<unknown> = Promise.resolve();

  async function fetchWhole(name: string, fetch: Fetch): Promise<void> {
    const partial = join(folder, `partial-${randomUUID()}`);
    try {
      await fetch(partial);
      if ((await sha256OfFile(partial)) !== digestIn(name))
        throw new CacheMismatch('the stored file is not the one recorded');
      await rename(partial, join(folder, name));
    } finally {
      await rm(partial, { force: true });
    }
  }

  async function isAtHand(name: string): Promise<boolean> {
    const cached = join(folder, name);
    if (untried.has(name)) return (await sha256OfFile(cached).catch(ignoreMissing)) === digestIn(name);
    return (await stat(cached).catch(ignoreMissing)) !== undefined;
  }

  /** Evicts after the evictions before it. If it fails, a later call tries again. */
  async function evictLater(limits: EvictionLimits): Promise<void> {
    evicting = Promise.allSettled([evicting]).then(() => evict(folder, limits, placing));
    await Promise.allSettled([evicting]);
  }

  async function fetchMakingRoom(name: string, fetch: Fetch): Promise<void> {
    try {
      await fetchWhole(name, fetch);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await evictLater({ maxBytes: 0, spareLinked: true });
      await fetchWhole(name, fetch);
    }
  }

  async function bring(name: string, fetch: Fetch): Promise<Outcome> {
    const atHand = await isAtHand(name);
    if (!atHand) await fetchMakingRoom(name, fetch);
    untried.delete(name);
    return atHand ? 'hit' : 'fetched';
  }

  function bringOnce(name: string, fetch: Fetch): Promise<Outcome> {
    const running = bringing.get(name) ?? bring(name, fetch).finally(() => bringing.delete(name));
    bringing.set(name, running);
    return running;
  }

  async function linkOrCopy(cached: string, target: string): Promise<void> {
    try {
      await makeLink(cached, target);
    } catch (error) {
      if (!isOneOf(NO_LINKS, error)) throw error;
      await copyFile(cached, target, constants.COPYFILE_FICLONE);
    }
  }

  return {
    /**
     * Places this file at `target`, calling `fetch` if it is not cached. The target is a hard link, or a copy where
     * links are impossible: evicting the cached name never takes a file away from a job. Rejects with CacheMismatch when
     * the fetched bytes have another digest, with the error of `fetch`, and with the signal's reason as soon as the
     * signal is aborted; the fetch then continues for other callers, now and later.
     */
    async place(content: OwnContent, target: string, fetch: Fetch, signal?: AbortSignal): Promise<Outcome> {
      const name = nameOf(content);
      if (!isCached(name)) throw new CacheMismatch('not a name for a cached file');
      const cached = join(folder, name);
      placing.push(name);
      try {
        // An eviction that began earlier may have chosen this file; one that begins now will not.
        await Promise.allSettled([evicting]);
        const outcome = await unlessAborted(bringOnce(name, fetch), signal);
        const now = new Date();
        // On the cached file: a copy has timestamps of its own.
        await utimes(cached, now, now);
        await linkOrCopy(cached, target);
        return outcome;
      } finally {
        placing.splice(placing.indexOf(name), 1);
        await evictLater({ maxBytes });
      }
    },
    /**
     * Removes the files that `findUnknown` names of those that are there: what was purged or erased elsewhere. A job that
     * has a link to one keeps it to its end.
     */
    async forget(
      findUnknown: (contents: readonly OwnContent[]) => Promise<readonly OwnContent[]>,
    ): Promise<void> {
      const there = (await readdir(folder)).filter(isCached).map(contentIn);
      if (there.length === 0) return;
      for (const content of await findUnknown(there)) {
        const name = nameOf(content);
        if (!placing.includes(name)) await rm(join(folder, name), { force: true });
      }
    },
  };
}

interface EvictionLimits {
  readonly maxBytes: number;
  /** Leaves files alone that a job has a link to: removing their name frees nothing. */
  readonly spareLinked?: boolean;
}

async function evict(
  folder: string,
  { maxBytes, spareLinked = false }: EvictionLimits,
  held: readonly string[],
): Promise<void> {
  const files: { name: string; bytes: number; usedMs: number }[] = [];
  for (const name of (await readdir(folder)).filter(isCached)) {
    const found = await stat(join(folder, name)).catch(ignoreMissing);
    if (found && !(spareLinked && found.nlink > 1))
      files.push({ name, bytes: found.size, usedMs: found.mtimeMs });
  }
  let total = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= maxBytes) return;
    if (held.includes(file.name)) continue;
    await rm(join(folder, file.name), { force: true });
    total -= file.bytes;
  }
}

/** Whether there was no room for what this process wanted to write. */
export function isDiskFull(error: unknown): boolean {
  return isOneOf(['ENOSPC', 'EDQUOT'], error);
}

/** The result of `work`, or a rejection with the signal's reason if that comes first. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // If the signal comes first, the outcome of `work` no longer matters.
  work.catch(() => undefined);
  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).catch(() => undefined);
  try {
    if (!signal.aborted) await Promise.race([work, aborted]);
    signal.throwIfAborted();
    return await work;
  } finally {
    settled.abort();
  }
}

const isCached = (name: string): boolean => /^\w+-[0-9a-f]{64}$/.test(name);
const nameOf = ({ customerId, sha256 }: OwnContent): string => `${customerId}-${sha256}`;
const digestIn = (name: string): string => name.slice(name.indexOf('-') + 1);
const contentIn = (name: string): OwnContent => ({
  customerId: name.slice(0, name.indexOf('-')),
  sha256: digestIn(name),
});

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
