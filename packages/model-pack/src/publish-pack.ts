import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { openPack, type Pack } from './open-pack';
import { PackError } from './pack-error';

/**
 * Publishes a pack at `dir`, replacing what was there. `fill` writes it to another directory beside it, which is
 * verified and then renamed, so the pack appears complete or not at all. If a pack with this digest is already there,
 * it is left untouched, so several processes may publish the same one at once. Rejects with PackError if `fill` wrote
 * no valid pack, or not the one with this digest.
 */
export async function publishPack(
  dir: string,
  digest: string,
  fill: (directory: string) => Promise<void>,
): Promise<Pack> {
  const existing = await readExisting(dir);
  if (existing?.digest === digest) return existing;

  const target = resolve(dir);
  await mkdir(dirname(target), { recursive: true });
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const next = join(staging, 'next');
    await mkdir(next);
    await fill(next);
    const written = await openPack(next);
    if (written.digest !== digest) {
      throw new PackError('digest_mismatch', `${dir}: pack.json changed while the pack was being written`);
    }
    if (!(await moved(next, target)) && (await readExisting(dir))?.digest !== digest) {
      await moved(target, join(staging, 'previous'));
      await moved(next, target);
    }
    return { ...written, dir };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function readExisting(dir: string): Promise<Pack | null> {
  try {
    return await openPack(dir);
  } catch (error) {
    if (error instanceof PackError) return null; // missing, damaged or another version: write it again
    throw error;
  }
}

/** Renames a directory. Returns false if another builder's is already there, or has already moved the source. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
}
