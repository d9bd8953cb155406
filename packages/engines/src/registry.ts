import { type Engine as EngineName } from '@lipsync/contract';
import { type PackRef } from '@lipsync/model-pack';
import { type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/engine';
import { createLatentsync } from './latentsync/engine';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import { type Manifest, type Pack, readPackAgain } from './packs';

/** An engine whose manifest has been read and whose graphs are not verified or loaded yet. */
interface EngineOnPack {
  readonly pack: Pack;
  /** `spareBytes`: memory that it may spend on caching instead of recomputing; unlimited by default. */
  create(run: RunModel, spareBytes?: number): LipSyncEngine;
}

type OpenEngine = (ref: PackRef) => Promise<EngineOnPack>;

const ENGINES: Readonly<Record<EngineName, OpenEngine>> = {
  musetalk: onPacksOf('musetalk', createMusetalk),
  latentsync: onPacksOf('latentsync', createLatentsync),
  highsync: onPacksOf('highsync', createHighsync),
};

/** Opens an engine on its pack. Rejects with PackError when the pack is missing or is a different one. */
export function openEngine(name: EngineName, ref: PackRef): Promise<EngineOnPack> {
  return ENGINES[name](ref);
}

/** An engine's code on any pack whose manifest names the engine. */
function onPacksOf<E extends EngineName>(
  name: E,
  create: (pack: Pack<Extract<Manifest, { engine: E }>>, run: RunModel, spareBytes?: number) => LipSyncEngine,
): OpenEngine {
  return async (ref) => {
    const pack = await readPackAgain(name, ref);
    return { pack, create: (run, spareBytes) => create(pack, run, spareBytes) };
  };
}
