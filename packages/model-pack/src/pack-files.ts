import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest } from './manifest';
import { MANIFEST_FILE, type Pack } from './open-pack';
import { packRoles } from './pack-roles';

/** The files that a manifest names, each once: roles may share weights. */
export function packFiles(manifest: Manifest): string[] {
  const roles = [...packRoles(manifest).values()];
  return [...new Set(roles.flatMap((role) => [role, ...(role.externalData ?? [])].map(({ file }) => file)))];
}

/** Bytes of a pack's files, its manifest included. Rejects with the file system's error. */
export async function packSize(pack: Pack): Promise<number> {
  const files = [MANIFEST_FILE, ...packFiles(pack.manifest)];
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(pack.dir, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
