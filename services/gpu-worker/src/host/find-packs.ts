import { type TaskPack } from '../protocol/messages';
import { type BadFolder, openPackFolders } from './pack-folders';
import { type Engine } from '@lipsync/contract';
import { type FeatureLayout } from '@lipsync/engines';
import { packVersion } from '@lipsync/model-pack';

/** A usable pack. Tasks also name the pack by these fields. */
export interface UsablePack extends TaskPack {
  /** Name, version and content in one word. */
  readonly version: string;
  /** Memory that its weights take, in bytes. */
  readonly bytes: number;
  /** See PackReport. Absent before a child was asked, and where the engine keeps no features. */
  readonly features?: FeatureLayout;
}

export interface FoundPacks {
  readonly analyzer?: UsablePack;
  readonly engines: ReadonlyMap<Engine, UsablePack>;
  /** Folders that hold no usable pack, and why. */
  readonly problems: readonly Omit<BadFolder, 'claim'>[];
}

/**
 * The packs under `packsDir` that serve: their manifests and digests are good, but their graphs are not yet checked.
 * Packs that stand behind another one are among the problems (see openPackFolders). Never rejects: without packs there
 * are simply no engines.
 */
export async function findPacks(packsDir: string): Promise<FoundPacks> {
  const { packs, bad } = await openPackFolders(packsDir).catch(() => ({
    packs: [],
    bad: [{ dir: packsDir, problem: 'the folder of model packs cannot be read', claim: {} }],
  }));
  let analyzer: UsablePack | undefined;
  const engines = new Map<Engine, UsablePack>();
  const problems: { dir: string; problem: string }[] = bad.map(({ dir, problem }) => ({ dir, problem }));
  for (const { dir, pack, bytes, behind } of packs) {
    const { engine } = pack.manifest;
    const usable = { dir, digest: pack.digest, version: packVersion(pack), bytes };
    if (behind !== undefined) problems.push({ dir, problem: `not used: ${behind}` });
    else if (engine === 'analyzer') analyzer = usable;
    else engines.set(engine, usable);
  }
  return { ...(analyzer ? { analyzer } : {}), engines, problems };
}
