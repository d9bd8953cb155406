import { type Engine as EngineName } from '@lipsync/contract';
import { openPackFor, type Manifest, type Pack } from '@lipsync/model-pack';
import { type RunModel } from '../packs/run-model';
import { type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/highsync-engine';
import { createLatentsync } from './latentsync/latentsync-engine';
import { createMusetalk } from './musetalk/musetalk-engine';

/** An engine whose pack has been checked and whose graphs wait to be loaded. */
export interface EngineOnPack {
  readonly pack: Pack;
  create(run: RunModel): LipSyncEngine;
}

type OpenEngine = (packDir: string) => Promise<EngineOnPack>;

const ENGINES: Readonly<Record<EngineName, OpenEngine>> = {
  musetalk: onPack('musetalk', createMusetalk),
  latentsync: onPack('latentsync', createLatentsync),
  highsync: onPack('highsync', createHighsync),
};

/** Opens an engine on its pack. Rejects with PackError when the pack cannot be used. */
export function openEngine(name: EngineName, packDir: string): Promise<EngineOnPack> {
  return ENGINES[name](packDir);
}

/** The code of an engine for whatever pack of it is opened. */
function onPack<E extends EngineName>(
  name: E,
  create: (pack: Pack<Extract<Manifest, { engine: E }>>, run: RunModel) => LipSyncEngine,
): OpenEngine {
  return async (packDir) => {
    const pack = await openPackFor(name, packDir);
    return { pack, create: (run) => create(pack, run) };
  };
}
