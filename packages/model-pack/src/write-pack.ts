import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest } from './manifest';
import { checkManifest, MANIFEST_FILE, type Pack } from './open-pack';
import { sha256 } from './pack-digest';
import { publishPack } from './publish-pack';

/** The `file` and `sha256` of a role, for the manifest that belongs to these bytes. */
export function modelFile(file: string, model: Uint8Array): { file: string; sha256: string } {
  return { file, sha256: sha256(model) };
}

/**
 * Writes a pack directory, replacing what was there, like publishPack. Rejects with PackError if the manifest is
 * invalid or `models` lacks a file that it names.
 */
export async function writePack(
  dir: string,
  manifest: Manifest,
  models: Readonly<Record<string, Uint8Array>>,
): Promise<Pack> {
  const bytes = Buffer.from(`${JSON.stringify(checkManifest(dir, manifest), null, 2)}\n`);
  return publishPack(dir, sha256(bytes), async (directory) => {
    await writeFile(join(directory, MANIFEST_FILE), bytes);
    for (const [file, model] of Object.entries(models)) await writeFile(join(directory, file), model);
  });
}
