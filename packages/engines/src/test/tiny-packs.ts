import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Pack } from '../packs';
import { writeHighsyncPack } from './highsync-pack';
import { writeLatentsyncPack } from './latentsync-pack';
import { writePooledMusetalkPack } from './musetalk-pack';

const WRITERS: Readonly<Record<Engine, (dir: string) => Promise<Pack>>> = {
  musetalk: (dir) => writePooledMusetalkPack(dir, { loudness: 0.25 }),
  latentsync: writeLatentsyncPack,
  highsync: writeHighsyncPack,
};

/**
 * Writes a pack for each engine below `outDir` whose graphs cost next to nothing and yet change the lower half of a face
 * by what they see and hear: for tests of everything around the engines. The analyzer is not among them.
 */
export async function writeTinyPacks(outDir: string): Promise<void> {
  for (const [engine, write] of Object.entries(WRITERS)) await write(join(outDir, `tiny-${engine}`));
}
