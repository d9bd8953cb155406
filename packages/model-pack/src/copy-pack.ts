import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE, type Pack } from './open-pack';
import { packFiles } from './pack-files';
import { publishPack } from './publish-pack';

/**
 * Copies a pack to `dir`, replacing what was there, as publishPack does: the files that its manifest names and no
 * others. Rejects with PackError when the pack changed since it was opened.
 */
export async function copyPack(pack: Pack, dir: string): Promise<Pack> {
  return publishPack(dir, pack.digest, async (directory) => {
    for (const file of [MANIFEST_FILE, ...packFiles(pack.manifest)])
      // Weights are gigabytes: where the file system can share them, they are not copied.
      await copyFile(join(pack.dir, file), join(directory, file), constants.COPYFILE_FICLONE);
  });
}
