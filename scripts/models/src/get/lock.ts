import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { processBegan } from '@lipsync/local-stack';
import { z } from '@lipsync/runtime';

const BEAT_MS = 10_000;
/** A holder on another machine that was silent for so long is dead. */
const DEAD_MS = 12 * BEAT_MS;

const holderSchema = z.object({
  token: z.string(),
  pid: z.int(),
  /** When the process began: numbers are used again, in a container from 1 on. */
  began: z.string(),
  host: z.string(),
  since: z.string(),
});
type Holder = z.output<typeof holderSchema>;

/** Somebody else works in the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/**
 * Does something in a folder while nobody else does. Rejects with FolderInUse, which says who is at work there. A lock
 * that a dead process left is taken over: on the same machine its process is gone, on another one it no longer touches
 * the file.
 */
export async function withFolderLock<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const file = path.join(folder, 'in-use-by.json');
  const own: Holder = {
    token: randomUUID(),
    pid: process.pid,
    began: processBegan(process.pid) ?? '',
    host: hostname(),
    since: new Date().toISOString(),
  };
  let beat: NodeJS.Timeout | undefined;
  try {
    await take(file, own);
    beat = setInterval(() => {
      const now = new Date();
      utimes(file, now, now).catch(() => undefined);
    }, BEAT_MS);
    return await action();
  } finally {
    clearInterval(beat);
    if ((await holderOf(file))?.token === own.token) await rm(file, { force: true });
  }
}

async function take(file: string, own: Holder): Promise<void> {
  while (!(await create(file, JSON.stringify(own)))) {
    const holder = await holderOf(file);
    if (!(await isLeftBehind(file, holder))) throw new FolderInUse(sentence(file, holder));
    // One process alone may remove what is left behind, and only while it is there: another could stand in its place.
    const removal = `${file}.${holder?.token}`;
    if (!(await create(removal, ''))) throw new FolderInUse(sentence(file, holder));
    const now = await holderOf(file);
    if (now?.token === holder?.token && (await isLeftBehind(file, now))) await rm(file, { force: true });
    await rm(removal);
  }
}

/** False if the file is there already. */
async function create(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Null if the file is gone, or not completely written. */
async function holderOf(file: string): Promise<Holder | null> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

async function isLeftBehind(file: string, holder: Holder | null): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  if (found === null) return true;
  if (holder?.host === hostname()) return processBegan(holder.pid) !== holder.began;
  return Date.now() - found.mtimeMs > DEAD_MS;
}

function sentence(file: string, holder: Holder | null): string {
  const who =
    holder === null
      ? 'by a process that just started'
      : `by process ${holder.pid} on ${holder.host}, since ${holder.since}`;
  return `${path.dirname(file)} is in use ${who}. Wait until it has ended, or name another folder with --cache`;
}
