import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { openPackFolders } from '@lipsync/gpu-worker';
import { describePack } from './describe-pack';

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
    ...{ version: null, licence: null, providers: null, digest: null },
    megabytes: null,
    state: `refused: ${problem}`,
  }));
  return [...(await Promise.all(rows)), ...refused];
}
