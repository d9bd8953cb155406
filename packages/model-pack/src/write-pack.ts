import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Manifest } from './manifest';
import { checkManifest, MANIFEST_FILE, openPack, type Pack } from './open-pack';
import { sha256 } from './pack-digest';
import { PackError } from './pack-error';

/** The `file` and `sha256` of a role, for the manifest that goes with these bytes. */
export function modelFile(file: string, model: Uint8Array): { file: string; sha256: string } {
  return { file, sha256: sha256(model) };
}

/**
 * Writes a pack directory, replacing what was there. The directory appears complete or not at all, and writing the
 * same pack again leaves it untouched, so several processes may build the built-in packs at once.
 * Rejects with PackError when the manifest is invalid or `models` lacks a file it names.
 */
export async function writePack(
  dir: string,
  manifest: Manifest,
  models: Readonly<Record<string, Uint8Array>>,
): Promise<Pack> {
  const bytes = Buffer.from(`${JSON.stringify(checkManifest(dir, manifest), null, 2)}\n`);
  const existing = await readExisting(dir);
  if (existing?.digest === sha256(bytes)) return existing;

  const target = resolve(dir);
  await mkdir(dirname(target), { recursive: true });
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const next = join(staging, 'next');
    await mkdir(next);
    await writeFile(join(next, MANIFEST_FILE), bytes);
    for (const [file, model] of Object.entries(models)) await writeFile(join(next, file), model);
    const written = await openPack(next);
    if (!(await moved(next, target)) && (await readExisting(dir))?.digest !== written.digest) {
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
    if (error instanceof PackError) return null; // absent, damaged or another version: write it anew
    throw error;
  }
}

/** Renames a directory; false when another builder's is already there, or the source was already moved by one. */
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
