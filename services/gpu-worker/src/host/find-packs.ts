import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { openPack, packVersion, type Pack } from '@lipsync/model-pack';

export interface UsablePack {
  readonly dir: string;
  /** Name, version and content in one word. */
  readonly version: string;
  /** See PackReport; absent before a child was asked, and where the engine keeps no features. */
  readonly featuresVersion?: string;
}

export interface FoundPacks {
  readonly analyzer?: UsablePack;
  readonly engines: ReadonlyMap<Engine, UsablePack>;
  /** Folders that hold no usable pack, and why. */
  readonly problems: readonly { readonly dir: string; readonly problem: string }[];
}

/**
 * Opens every folder under `packsDir` as a pack: manifest and digests, not yet the graphs. Of several packs for the
 * same engine the one that is not built in wins, then the first by name; the others are listed as problems. Never
 * rejects: without packs there are simply no engines.
 */
export async function findPacks(packsDir: string): Promise<FoundPacks> {
  const problems: { dir: string; problem: string }[] = [];
  const packs: Pack[] = [];
  for (const dir of await foldersIn(packsDir, problems)) {
    try {
      packs.push(await openPack(dir));
    } catch (error) {
      problems.push({ dir, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  const chosen = new Map<string, UsablePack>();
  for (const pack of packs.sort(byPreference)) {
    const { engine } = pack.manifest;
    const winner = chosen.get(engine);
    if (winner) problems.push({ dir: pack.dir, problem: `not used: ${winner.version} serves ${engine}` });
    else chosen.set(engine, { dir: pack.dir, version: packVersion(pack) });
  }
  const analyzer = chosen.get('analyzer');
  const engines = new Map<Engine, UsablePack>();
  for (const { manifest } of packs) {
    const pack = chosen.get(manifest.engine);
    if (pack && manifest.engine !== 'analyzer') engines.set(manifest.engine, pack);
  }
  return { ...(analyzer ? { analyzer } : {}), engines, problems };
}

async function foldersIn(packsDir: string, problems: { dir: string; problem: string }[]): Promise<string[]> {
  try {
    const entries = await readdir(packsDir, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    return folders.map((entry) => join(packsDir, entry.name)).sort();
  } catch {
    problems.push({ dir: packsDir, problem: 'the folder of model packs cannot be read' });
    return [];
  }
}

function byPreference(a: Pack, b: Pack): number {
  const builtIn = (pack: Pack): number => (pack.manifest.name.startsWith('builtin-') ? 1 : 0);
  return builtIn(a) - builtIn(b) || a.manifest.name.localeCompare(b.manifest.name);
}
