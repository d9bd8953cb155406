import { describePack } from './describe-pack';
import { verifyPack } from './verify-pack';
import { type Row } from '@lipsync/admin';
import { copyPack, openPack, type Pack } from '@lipsync/engines';
import { PackError } from '@lipsync/model-pack';
import path from 'node:path';

/** The build writes packs with such names and would overwrite others. */
const RESERVED = /^builtin-|^analyzer$/;

/**
 * Verifies a pack and copies it into `packsDir`, into a folder with its own name; it appears complete or not at all.
 * Rejects when the pack does not verify, has a reserved name, or would replace another pack without the option to do
 * so.
 */
export async function installPack(
  dir: string,
  packsDir: string,
  options: { replace: boolean; entry?: string },
): Promise<Row> {
  const { replace, ...childOptions } = options;
  const { pack, problem } = await verifyPack(dir, childOptions);
  if (pack === undefined) throw new Error(`not installed: ${problem ?? 'it could not be verified'}`);
  const { name } = pack.manifest;
  if (RESERVED.test(name)) throw new Error(`not installed: the name ${name} is kept for packs of the build`);
  const target = path.join(packsDir, name);
  const before = await packAt(target);
  if (before !== null && before.digest !== pack.digest && !replace)
    throw new Error(`not installed: ${target} holds ${before.manifest.name} ${before.manifest.version}`);
  const installed = await copyPack(pack, target);
  return {
    folder: target,
    ...(await describePack(installed)),
    state:
      before === null ? 'installed' : before.digest === pack.digest ? 'was installed already' : 'replaced',
  };
}

/** Null if there is none, or none that is usable. */
async function packAt(dir: string): Promise<Pack | null> {
  try {
    return await openPack(dir);
  } catch (error) {
    if (error instanceof PackError) return null;
    throw error;
  }
}
