import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openPack, packSize, packVersion, type Pack } from '@lipsync/model-pack';

/** A folder that holds a pack whose manifest and digests are good; its graphs were not looked at. */
export interface PackFolder {
  readonly dir: string;
  readonly pack: Pack;
  /** Size of its files. */
  readonly bytes: number;
  /** Version of the pack that is preferred for the same engine. */
  readonly behind?: string;
}

/** A folder that holds no usable pack, and why. */
export interface BadFolder {
  readonly dir: string;
  readonly problem: string;
}

/**
 * Opens every folder under `packsDir` as a pack, sorted by name; those that begin with a dot are packs being written. Of
 * several for the same engine the one that is not built in comes first, then the first by name. Rejects when the folder
 * itself cannot be read.
 */
export async function openPackFolders(
  packsDir: string,
): Promise<{ readonly packs: readonly PackFolder[]; readonly bad: readonly BadFolder[] }> {
  const opened: Pack[] = [];
  const sizes = new Map<Pack, number>();
  const bad: BadFolder[] = [];
  for (const dir of await foldersIn(packsDir)) {
    try {
      const pack = await openPack(dir);
      sizes.set(pack, await packSize(pack));
      opened.push(pack);
    } catch (error) {
      bad.push({ dir, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  const first = new Map<string, Pack>();
  for (const pack of [...opened].sort(byPreference))
    if (!first.has(pack.manifest.engine)) first.set(pack.manifest.engine, pack);
  const packs = opened.map((pack) => {
    const winner = first.get(pack.manifest.engine);
    const behind = winner === undefined || winner === pack ? {} : { behind: packVersion(winner) };
    return { dir: pack.dir, pack, bytes: sizes.get(pack) ?? 0, ...behind };
  });
  return { packs, bad };
}

async function foldersIn(packsDir: string): Promise<string[]> {
  const entries = await readdir(packsDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .filter(({ name }) => !name.startsWith('.'))
    .map(({ name }) => join(packsDir, name))
    .sort();
}

function byPreference(a: Pack, b: Pack): number {
  const builtIn = (pack: Pack): number => (pack.manifest.name.startsWith('builtin-') ? 1 : 0);
  return builtIn(a) - builtIn(b) || a.manifest.name.localeCompare(b.manifest.name);
}
