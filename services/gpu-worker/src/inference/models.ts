import { type Engine } from '@lipsync/contract';
import { openPackFor, packVersion } from '@lipsync/model-pack';
import { type LipSyncEngine } from './engines/engine';
import { openEngine } from './engines/registry';
import { loadOnDemand } from './packs/load-on-demand';
import { loadPack } from './packs/load-pack';
import { type RunModel } from './packs/run-model';
import { type LoadedAnalyzer } from './pipeline/analyse-pass';
import { type SessionHost } from './sessions/session';
import { createSingleSlotCache } from './single-slot-cache';

/** Loaded models, kept between tasks: one analyser, and the engine that was used last. */
export interface Models {
  analyzer(packDir: string): Promise<LoadedAnalyzer>;
  engine(name: Engine, packDir: string): Promise<LipSyncEngine>;
  /** An engine for the sake of its encoder: it is not kept, and loads no graph that is not run. */
  encoder(name: Engine, packDir: string): Promise<EngineForOnce>;
  /** How often the face detector has run so far. */
  detectorRuns(): number;
}

export interface EngineForOnce {
  readonly engine: LipSyncEngine;
  /** Lets go of its graphs. */
  readonly release: () => Promise<void>;
}

/** A model with the way to let go of its graphs. */
interface Loaded<T> {
  readonly model: T;
  readonly release: () => Promise<void>;
}

/** Loads on first use with `threads` inside each graph. Rejects with PackError or SessionError. */
export function createModels(host: SessionHost, threads: number): Models {
  const analyzers = createSingleSlotCache<Loaded<LoadedAnalyzer>>(({ release }) => release());
  const engines = createSingleSlotCache<Loaded<LipSyncEngine>>(({ release }) => release());
  let detectorRuns = 0;

  return {
    analyzer: async (packDir) => {
      const loaded = await analyzers.get(packDir, async () => {
        const pack = await openPackFor('analyzer', packDir);
        const loaded = await loadPack(host, pack, { threads, probe: false });
        const run: RunModel = (role, feeds) => {
          if (role === 'face_detector') detectorRuns++;
          return loaded.run(role, feeds);
        };
        const model = { params: pack.manifest.params, version: packVersion(pack), run };
        return { model, release: loaded.release };
      });
      return loaded.model;
    },
    engine: async (name, packDir) => {
      const loaded = await engines.get(packDir, async () => {
        const opened = await openEngine(name, packDir);
        const { run, release } = await loadPack(host, opened.pack, { threads, probe: false });
        return { model: opened.create(run), release };
      });
      return loaded.model;
    },
    encoder: async (name, packDir) => {
      const opened = await openEngine(name, packDir);
      const { run, release } = loadOnDemand(host, opened.pack, threads);
      return { engine: opened.create(run), release };
    },
    detectorRuns: () => detectorRuns,
  };
}
