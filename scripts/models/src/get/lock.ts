import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from '@lipsync/runtime';

const BEAT_MS = 10_000;
/** A holder that was silent for so long is dead. */
const DEAD_MS = 12 * BEAT_MS;

const holderSchema = z.object({ token: z.string(), pid: z.int(), host: z.string(), since: z.string() });
type Holder = z.output<typeof holderSchema>;

/** The tokens of this process. */
const held = new Set<string>();

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
    host: hostname(),
    since: new Date().toISOString(),
  };
  held.add(own.token);
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
    held.delete(own.token);
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
    if (codeOf(error) === 'EEXIST') return false;
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
  if (found === null || Date.now() - found.mtimeMs > DEAD_MS) return true;
  if (holder?.host !== hostname()) return false;
  // In a container that is started again, processes get their numbers again.
  return holder.pid === process.pid ? !held.has(holder.token) : !isRunning(holder.pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return codeOf(error) === 'EPERM';
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}

function sentence(file: string, holder: Holder | null): string {
  const who =
    holder === null
      ? 'by a process that just started'
      : `by process ${holder.pid} on ${holder.host}, since ${holder.since}`;
  return `${path.dirname(file)} is in use ${who}. Wait until it has ended, or name another folder with --cache`;
}
