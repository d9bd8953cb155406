import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE, type Pack } from './open-pack';
import { packFiles } from './pack-files';
import { publishPack } from './publish-pack';

/**
 * Copies a pack to `dir`, replacing what was there, like publishPack: only the files that its manifest names. Rejects
 * with PackError if the pack has changed since it was opened.
 */
export async function copyPack(pack: Pack, dir: string): Promise<Pack> {
  return publishPack(dir, pack.digest, async (directory) => {
    for (const file of [MANIFEST_FILE, ...packFiles(pack.manifest)])
      // Weights are gigabytes. If the file system can share them, they are not copied.
      await copyFile(join(pack.dir, file), join(directory, file), constants.COPYFILE_FICLONE);
  });
}
