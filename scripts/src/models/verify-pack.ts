import { checkPack } from '@lipsync/gpu-worker';
import { openPack, type Pack } from '@lipsync/model-pack';
import { type Row } from '@lipsync/admin';
import { describePack } from './describe-pack';

/** A pack that was tried out. */
export interface VerifiedPack {
  readonly row: Row;
  /** Why it cannot be used; then `pack` may be absent too. */
  readonly problem?: string;
  readonly pack?: Pack;
}

/**
 * Tries a pack out in an inference process, as a worker does at its start: manifest, digests, graphs against manifest,
 * probes, on a provider of this machine. `entry` is the compiled child. Rejects only when files cannot be looked at.
 */
export async function verifyPack(dir: string, options: { entry?: string } = {}): Promise<VerifiedPack> {
  const { problem, provider } = await checkPack(dir, options);
  if (problem !== undefined) return { row: { folder: dir, state: `refused: ${problem}` }, problem };
  const pack = await openPack(dir);
  return { row: { folder: dir, ...(await describePack(pack)), runs_on: provider, state: 'usable' }, pack };
}
