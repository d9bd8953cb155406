import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest } from './manifest';
import { MANIFEST_FILE, type Pack } from './open-pack';
import { PackError } from './pack-error';
import { packRoles } from './pack-roles';

/** The files that a manifest names, each once, because roles may share weights. */
export function packFiles(manifest: Manifest): string[] {
  return [...new Set(filesByRole(manifest))];
}

/** Total bytes of a pack's files, including its manifest. Rejects with PackError if one is missing. */
export function packSize(pack: Pack): Promise<number> {
  return sizeOf(pack, [MANIFEST_FILE, ...packFiles(pack.manifest)]);
}

/**
 * Bytes of memory that a pack's weights take: every graph loads its own copy, also of a file that it shares with
 * another. Rejects with PackError if a file is missing.
 */
export function weightsSize(pack: Pack): Promise<number> {
  return sizeOf(pack, filesByRole(pack.manifest));
}

function filesByRole(manifest: Manifest): string[] {
  const roles = [...packRoles(manifest).values()];
  return roles.flatMap((role) => [role, ...(role.externalData ?? [])].map(({ file }) => file));
}

async function sizeOf({ dir }: Pack, files: readonly string[]): Promise<number> {
  const sizes = files.map(async (file) => {
    try {
      return (await stat(join(dir, file))).size;
    } catch (cause) {
      throw new PackError('file_missing', `${dir}: ${file} cannot be read`, { cause });
    }
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
