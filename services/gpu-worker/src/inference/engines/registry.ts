import { type Engine as EngineName } from '@lipsync/contract';
import { openPackFor, type Manifest, type Pack } from '@lipsync/model-pack';
import { type RunModel } from '../packs/run-model';
import { type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/highsync-engine';
import { createMusetalk } from './musetalk/musetalk-engine';

/** An engine whose pack has been checked and whose graphs wait to be loaded. */
export interface EngineOnPack {
  readonly pack: Pack;
  create(run: RunModel): LipSyncEngine;
}

/** Opens the pack of one engine. Rejects with PackError when it cannot be used. */
type OpenEngine = (packDir: string) => Promise<EngineOnPack>;

/** What this worker can render; null: the contract knows the engine, this worker has no code for it. */
const ENGINES: Readonly<Record<EngineName, OpenEngine | null>> = {
  musetalk: onPack('musetalk', createMusetalk),
  latentsync: null,
  highsync: onPack('highsync', createHighsync),
};

/** The way to open an engine's pack; null for an engine that this worker never offers. */
export function engineOpener(name: EngineName): OpenEngine | null {
  return ENGINES[name];
}

export function isImplemented(name: EngineName): boolean {
  return ENGINES[name] !== null;
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
