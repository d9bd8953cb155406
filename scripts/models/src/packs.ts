import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { copyPack, openPack, type Pack } from '@lipsync/engines';
import { checkPack, openPackFolders } from '@lipsync/gpu-worker';
import { PackError, packSize, type Provider } from '@lipsync/model-pack';

/**
 * A row per folder under `packsDir`. `state` says whether the pack serves its engine, judging by manifest and digests;
 * only verification shows whether its graphs run. Rejects when the folder cannot be read.
 */
export async function listPacks(packsDir: string): Promise<Row[]> {
  const { packs, bad } = await openPackFolders(packsDir);
  const rows = packs.map(async ({ dir, pack, behind }) => ({
    folder: path.basename(dir),
    ...(await describePack(pack)),
    state: behind === undefined ? 'serves' : `not used: ${behind}`,
  }));
  const refused = bad.map(({ dir, problem, claim }) => ({
    folder: path.basename(dir),
    engine: claim.engine ?? null,
    name: claim.name ?? null,
    version: null,
    license: null,
    providers: null,
    digest: null,
    megabytes: null,
    state: `refused: ${problem}`,
  }));
  return [...(await Promise.all(rows)), ...refused];
}

type PackReport = Awaited<ReturnType<typeof checkPack>>;
type CheckOptions = Parameters<typeof checkPack>[1];

/** checkPack; where the runtime could not load CUDA, the problem also says what helps. */
async function reportOn(dir: string, options: CheckOptions): Promise<PackReport> {
  const report = await checkPack(dir, options);
  const { problem } = report;
  if (problem === undefined || !problem.includes('ExecutionProvider_Cuda')) return report;
  return {
    ...report,
    problem: `${problem} (npm run models -- cuda installs what is missing, or says what it is)`,
  };
}

/** Verifies a pack like verifyPack. Rejects when it cannot be used. */
export async function checkedPack(
  dir: string,
  options: CheckOptions = {},
): Promise<PackReport & { provider: Provider }> {
  const { provider, problem, ...report } = await reportOn(dir, options);
  if (provider === undefined) throw new Error(problem ?? `${dir} could not be verified`);
  return { ...report, provider };
}

/** The result of verifying a pack. */
interface VerifiedPack {
  readonly row: Row;
  /** Why the pack is unusable; then `pack` may be undefined too. */
  readonly problem?: string;
  readonly pack?: Pack;
}

/**
 * Verifies a pack in an inference process, as a worker does when it starts: manifest, digests, graphs against manifest,
 * probes, on a provider of this machine. `entry` is the compiled child. Rejects only when files cannot be read.
 */
export async function verifyPack(dir: string, options: { entry?: string } = {}): Promise<VerifiedPack> {
  const { problem, provider, passedOver, probes = [] } = await reportOn(dir, options);
  if (problem !== undefined) return { row: { folder: dir, state: `refused: ${problem}` }, problem };
  const pack = await openPack(dir);
  const row = {
    folder: dir,
    ...(await describePack(pack)),
    runs_on: provider,
    ...(passedOver !== undefined && { passed_over: passedOver.join('; ') }),
    // How near the worst of the probes comes to its tolerance, which is 1.
    worst_probe: probes.length === 0 ? null : worstOf(probes),
    state: 'usable',
  };
  return { row, pack };
}

function worstOf(probes: readonly { deviation: number; tolerance: number }[]): number {
  const worst = Math.max(...probes.map(({ deviation, tolerance }) => deviation / tolerance));
  return Number(worst.toPrecision(2));
}

/** The build writes packs with such names and would overwrite others. */
const RESERVED = /^builtin-|^analyzer$/;

/**
 * Verifies a pack and copies it into `packsDir`, into a folder with its own name; it appears complete or not at all.
 * Rejects when the pack does not verify, has a reserved name, or would replace another pack without the option to do
 * so.
 */
export async function installPack(
  dir: string,
  packsDir: string,
  options: { replace: boolean; entry?: string },
): Promise<Row> {
  const { replace, ...childOptions } = options;
  const { pack, problem } = await verifyPack(dir, childOptions);
  if (pack === undefined) throw new Error(`not installed: ${problem ?? 'it could not be verified'}`);
  return placePack(pack, packsDir, { replace });
}

/** Copies a verified pack into `packsDir`, like installPack. */
export async function placePack(
  pack: Pack,
  packsDir: string,
  { replace }: { replace: boolean },
): Promise<Row> {
  const { name } = pack.manifest;
  refuseReserved(name);
  const target = path.join(packsDir, name);
  const before = await packAt(target);
  if (before !== null && before.digest !== pack.digest && !replace)
    throw new Error(`not installed: ${target} holds ${before.manifest.name} ${before.manifest.version}`);
  const installed = await copyPack(pack, target);
  return {
    folder: target,
    ...(await describePack(installed)),
    state:
      before === null ? 'installed' : before.digest === pack.digest ? 'was installed already' : 'replaced',
  };
}

export function refuseReserved(name: string): void {
  if (RESERVED.test(name)) throw new Error(`not installed: the name ${name} is reserved for built-in packs`);
}

/** Null if there is none, or none that is usable. */
export async function packAt(dir: string): Promise<Pack | null> {
  try {
    return await openPack(dir);
  } catch (error) {
    if (error instanceof PackError) return null;
    throw error;
  }
}

/** What an operator wants to know about a pack. */
async function describePack(pack: Pack): Promise<Row> {
  const { engine, name, version, license, providers } = pack.manifest;
  return {
    engine,
    name,
    version,
    license: license.spdx,
    providers: providers.join(','),
    digest: pack.digest.slice(0, 12),
    megabytes: Number(((await packSize(pack)) / 1e6).toFixed(1)),
  };
}
