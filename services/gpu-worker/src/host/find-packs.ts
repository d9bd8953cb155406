import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type FeatureLayout, type Pack, type PackEngine, readPack } from '@lipsync/engines';
import { type PackClaim, PackError, packVersion, verifyPackFiles, weightsSize } from '@lipsync/model-pack';
import { type TaskPack } from '../protocol/messages';

/** A usable pack. Tasks also name the pack by these fields. */
export interface UsablePack extends TaskPack {
  /** Name, version and content in one word. */
  readonly version: string;
  /** Memory that its weights take, in bytes. */
  readonly bytes: number;
  /** See PackReport. Absent before a child was asked, and where the engine caches no features. */
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

/** A folder that holds a pack whose manifest and digests are good. Its graphs are not checked. */
export interface PackFolder {
  readonly dir: string;
  readonly pack: Pack;
  /** Memory that its weights take. */
  readonly bytes: number;
  /** Why the pack does not serve its engine, in words: another folder takes precedence. */
  readonly behind?: string;
}

/** A folder that holds no usable pack, and why. */
interface BadFolder {
  readonly dir: string;
  readonly problem: string;
  readonly claim: PackClaim;
}

/** The folder that mkfs creates on a volume. */
const NO_PACK = 'lost+found';

/**
 * Opens every folder under `packsDir` as a pack, sorted by name. Skips folders that begin with a dot: they are packs
 * being written.
 *
 * Among several packs for the same engine, those that are not built in come first, then the first by name, whether
 * usable or not: someone who installed weights wants those weights or an error, not the drawing that stands in for
 * them. A folder whose engine is unknown comes before every built-in pack. Rejects when `packsDir` cannot be read.
 */
export async function openPackFolders(
  packsDir: string,
): Promise<{ readonly packs: readonly PackFolder[]; readonly bad: readonly BadFolder[] }> {
  const found: (Omit<PackFolder, 'behind'> | BadFolder)[] = [];
  const claims: Claimed[] = [];
  for (const dir of await foldersIn(packsDir)) {
    let claim: PackClaim = {};
    try {
      const pack = await readPack(dir);
      claim = { engine: pack.manifest.engine, name: pack.manifest.name };
      await verifyPackFiles(pack);
      found.push({ dir, pack, bytes: await weightsSize(pack) });
      claims.push({ dir, ...claim, version: packVersion(pack) });
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      claim = { ...error.claim, ...claim };
      found.push({ dir, claim, problem: error.message });
      // A folder without pack.json is not a pack and belongs to someone else.
      if (error.reason !== 'pack_missing') claims.push({ dir, ...claim });
    }
  }
  const preferred = [...claims].sort(byPreference);
  return {
    packs: found.flatMap((folder) => {
      if (!('pack' in folder)) return [];
      const behind = reasonAgainst(folder, preferred);
      return [{ ...folder, ...(behind === undefined ? {} : { behind }) }];
    }),
    bad: found.flatMap((folder) => ('pack' in folder ? [] : [folder])),
  };
}

/** What is known of a folder that is meant to be a pack. An unusable pack has no version. */
interface Claimed extends PackClaim {
  readonly dir: string;
  readonly version?: string;
}

function reasonAgainst(
  { dir, pack }: Omit<PackFolder, 'behind'>,
  preferred: readonly Claimed[],
): string | undefined {
  const { engine, name } = pack.manifest;
  const first = preferred.find((claim) => claim.engine === engine);
  if (first !== undefined && first.dir !== dir) {
    const { version } = first;
    return version === undefined
      ? `${first.dir} comes first and cannot be used`
      : `${version} serves ${engine}`;
  }
  const unknown = preferred.find((claim) => claim.engine === undefined && !isBuiltIn(claim));
  if (unknown === undefined || !isStandIn(engine, name)) return undefined;
  return `${unknown.dir} may be for ${engine} and cannot be used`;
}

/** The built-in analyzer is not a stand-in, because it is trained. */
function isStandIn(engine: PackEngine, name: string): boolean {
  return engine !== 'analyzer' && name.startsWith(BUILT_IN);
}

async function foldersIn(packsDir: string): Promise<string[]> {
  const entries = await readdir(packsDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .filter(({ name }) => !name.startsWith('.') && name !== NO_PACK)
    .map(({ name }) => join(packsDir, name))
    .sort();
}

const BUILT_IN = 'builtin-';

/** If the manifest does not give a name, the folder's name decides: only the build names folders this way. */
function isBuiltIn({ dir, name = basename(dir) }: Claimed): boolean {
  return name.startsWith(BUILT_IN);
}

function byPreference(a: Claimed, b: Claimed): number {
  const nameOf = ({ dir, name = basename(dir) }: Claimed): string => name;
  return Number(isBuiltIn(a)) - Number(isBuiltIn(b)) || nameOf(a).localeCompare(nameOf(b));
}
