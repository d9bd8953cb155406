import { join } from 'node:path';
import { type Engine as EngineName } from '@lipsync/contract';
import { type PackRef } from '@lipsync/model-pack';
import { buildAnalyzerPack } from './analyzer/pack';
import { type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/engine';
import { writeHighsyncPack } from './highsync/pack';
import { createLatentsync } from './latentsync/engine';
import { writeLatentsyncPack } from './latentsync/pack';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import { writeMusetalkPack } from './musetalk/pack';
import { type Manifest, type Pack, readPackAgain } from './packs';

/** An engine whose manifest has been read and whose graphs are not verified or loaded yet. */
interface EngineOnPack {
  readonly pack: Pack;
  /** `spareBytes`: memory that it may spend on caching instead of recomputing; unlimited by default. */
  create(run: RunModel, spareBytes?: number): LipSyncEngine;
}

interface RegisteredEngine {
  readonly open: (ref: PackRef) => Promise<EngineOnPack>;
  readonly writeBuiltinPack: (dir: string) => Promise<Pack>;
}

const ENGINES: Readonly<Record<EngineName, RegisteredEngine>> = {
  musetalk: register('musetalk', createMusetalk, writeMusetalkPack),
  latentsync: register('latentsync', createLatentsync, writeLatentsyncPack),
  highsync: register('highsync', createHighsync, writeHighsyncPack),
};

/** Opens an engine on its pack. Rejects with PackError when the pack is missing or is a different one. */
export function openEngine(name: EngineName, ref: PackRef): Promise<EngineOnPack> {
  return ENGINES[name].open(ref);
}

/**
 * Writes the packs that come with the service below `outDir`, one directory each: the face analyzer, and the reference
 * pack of each engine. Leaves packs untouched that already exist unchanged.
 */
export async function buildBuiltinPacks(outDir: string): Promise<Pack[]> {
  const packs = [await buildAnalyzerPack(join(outDir, 'analyzer'))];
  for (const [name, { writeBuiltinPack }] of Object.entries(ENGINES))
    packs.push(await writeBuiltinPack(join(outDir, `builtin-${name}`)));
  return packs;
}

/** An engine's code, which runs any pack of that engine, with the writer of the pack that comes with it. */
function register<E extends EngineName>(
  name: E,
  create: (pack: Pack<Extract<Manifest, { engine: E }>>, run: RunModel, spareBytes?: number) => LipSyncEngine,
  writeBuiltinPack: (dir: string) => Promise<Pack>,
): RegisteredEngine {
  return {
    async open(ref) {
      const pack = await readPackAgain(name, ref);
      return { pack, create: (run, spareBytes) => create(pack, run, spareBytes) };
    },
    writeBuiltinPack,
  };
}
