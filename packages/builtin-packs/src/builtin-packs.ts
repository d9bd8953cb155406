import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Pack } from '@lipsync/engines';
import { buildAnalyzerPack } from './analyzer/pack';
import { writeHighsyncPack } from './highsync';
import { writeLatentsyncPack } from './latentsync';
import { writeMusetalkPack } from './musetalk';

/** The compiler asks for a pack of every engine. */
export const WRITERS: Readonly<Record<Engine, (dir: string) => Promise<Pack>>> = {
  musetalk: writeMusetalkPack,
  latentsync: writeLatentsyncPack,
  highsync: writeHighsyncPack,
};

/**
 * Writes the packs that come with the service below `outDir`, one directory each: the face analyzer, and a pack for
 * each engine. Leaves packs untouched that already exist unchanged.
 */
export async function buildBuiltinPacks(outDir: string): Promise<Pack[]> {
  const packs = [await buildAnalyzerPack(join(outDir, 'analyzer'))];
  for (const [engine, write] of Object.entries(WRITERS))
    packs.push(await write(join(outDir, `builtin-${engine}`)));
  return packs;
}
