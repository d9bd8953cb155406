import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest } from './manifest';
import { MANIFEST_FILE, type Pack } from './open-pack';
import { PackError } from './pack-error';
import { packRoles } from './pack-roles';

/** The files that a manifest names, each once, because roles may share weights. */
export function packFiles(manifest: Manifest): string[] {
  const roles = [...packRoles(manifest).values()];
  return [...new Set(roles.flatMap((role) => [role, ...(role.externalData ?? [])].map(({ file }) => file)))];
}

/** Total bytes of a pack's files, including its manifest. Rejects with PackError if one is missing. */
export async function packSize(pack: Pack): Promise<number> {
  const files = [MANIFEST_FILE, ...packFiles(pack.manifest)];
  const sizeOf = async (file: string): Promise<number> => {
    try {
      return (await stat(join(pack.dir, file))).size;
    } catch (cause) {
      throw new PackError('file_missing', `${pack.dir}: ${file} cannot be read`, { cause });
    }
  };
  const sizes = await Promise.all(files.map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}
