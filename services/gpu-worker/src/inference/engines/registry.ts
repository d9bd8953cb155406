import { type Engine as EngineName } from '@lipsync/contract';
import { type Manifest, type Pack, type PackRef, readPackAgain } from '@lipsync/model-pack';
import { type RunModel } from '../packs/run-model';
import { type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/highsync-engine';
import { createLatentsync } from './latentsync/latentsync-engine';
import { createMusetalk } from './musetalk/musetalk-engine';

/** An engine whose manifest has been read and whose graphs wait to be verified and loaded. */
export interface EngineOnPack {
  readonly pack: Pack;
  /** `spareBytes`: memory that it may spend on remembering instead of computing again; no limit when left out. */
  create(run: RunModel, spareBytes?: number): LipSyncEngine;
}

type OpenEngine = (ref: PackRef) => Promise<EngineOnPack>;

const ENGINES: Readonly<Record<EngineName, OpenEngine>> = {
  musetalk: onPack('musetalk', createMusetalk),
  latentsync: onPack('latentsync', createLatentsync),
  highsync: onPack('highsync', (pack, run, bankBytes) => createHighsync(pack, run, { bankBytes })),
};

/** Opens an engine on its pack. Rejects with PackError when there is no such pack, or another one in its place. */
export function openEngine(name: EngineName, ref: PackRef): Promise<EngineOnPack> {
  return ENGINES[name](ref);
}

/** The code of an engine for whatever pack of it is opened. */
function onPack<E extends EngineName>(
  name: E,
  create: (pack: Pack<Extract<Manifest, { engine: E }>>, run: RunModel, spareBytes?: number) => LipSyncEngine,
): OpenEngine {
  return async (ref) => {
    const pack = await readPackAgain(name, ref);
    return { pack, create: (run, spareBytes) => create(pack, run, spareBytes) };
  };
}
