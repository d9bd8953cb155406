import { join } from 'node:path';
import { buildAnalyzerPack } from './analyzer/pack';
import { writeHighsyncPack } from './highsync/pack';
import { writeLatentsyncPack } from './latentsync/pack';
import { writeMusetalkPack } from './musetalk/pack';
import { type Pack } from './packs';

/**
 * Writes the packs that come with the service below `outDir`, one directory each: the face analyser, and the reference
 * pack of each engine. Leaves packs untouched that already exist unchanged.
 */
export async function buildBuiltinPacks(outDir: string): Promise<Pack[]> {
  return [
    await buildAnalyzerPack(join(outDir, 'analyzer')),
    await writeMusetalkPack(join(outDir, 'builtin-musetalk')),
    await writeLatentsyncPack(join(outDir, 'builtin-latentsync')),
    await writeHighsyncPack(join(outDir, 'builtin-highsync')),
  ];
}
