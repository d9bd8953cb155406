import { type Manifest, type Pack } from '@lipsync/engines';
import { MANIFEST_FILE, packFiles } from '@lipsync/model-pack';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder of packs at `folder` with one face analyser and, for the engine, only this pack: links to the pack's
 * files, which may be gigabytes, with a manifest for the same files. Returns the pack's path in it.
 */
export async function isolatePack(
  folder: string,
  { pack, manifest, analyzerDir }: { pack: Pack; manifest: Manifest; analyzerDir: string },
): Promise<string> {
  const dir = path.join(folder, 'engine');
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, MANIFEST_FILE), JSON.stringify(manifest));
  for (const file of packFiles(manifest)) await symlink(path.resolve(pack.dir, file), path.join(dir, file));
  await symlink(path.resolve(analyzerDir), path.join(folder, 'analyzer'));
  return dir;
}
