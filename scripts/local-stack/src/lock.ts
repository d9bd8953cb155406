import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAlive } from '@lipsync/testkit';
import { waitUntil } from './wait-until';

/** Longer than a start on a busy machine, which takes up to 90 s for the services alone. */
const PATIENCE_MS = 180_000;

/** Runs `action` while holding a lock file, so that two simultaneous `stack up` do not start everything twice. */
export async function withLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  const acquired = await waitUntil(() => tryLock(file), PATIENCE_MS);
  if (!acquired) throw new Error(`another stack command has held ${file} for three minutes`);
  try {
    return await action();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!holderIsAlive(file)) rmSync(file, { force: true });
    return false;
  }
}

function holderIsAlive(file: string): boolean {
  try {
    return isAlive(Number(readFileSync(file, 'utf8')));
  } catch {
    // It was released in the meantime.
    return false;
  }
}
