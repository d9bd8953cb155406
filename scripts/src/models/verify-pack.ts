import { describePack } from './describe-pack';
import { type Row } from '@lipsync/admin';
import { openPack, type Pack } from '@lipsync/engines';
import { checkPack } from '@lipsync/gpu-worker';

/** The result of verifying a pack. */
export interface VerifiedPack {
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
  const { problem, provider } = await checkPack(dir, options);
  if (problem !== undefined) return { row: { folder: dir, state: `refused: ${problem}` }, problem };
  const pack = await openPack(dir);
  return { row: { folder: dir, ...(await describePack(pack)), runs_on: provider, state: 'usable' }, pack };
}
