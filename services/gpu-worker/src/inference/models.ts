import { type Engine } from '@lipsync/contract';
import { openPackFor, packSize, packVersion } from '@lipsync/model-pack';
import { type LipSyncEngine } from './engines/engine';
import { openEngine } from './engines/registry';
import { type InferenceSettings } from './inference-settings';
import { createModelCache } from './model-cache';
import { loadOnDemand } from './packs/load-on-demand';
import { loadPack } from './packs/load-pack';
import { type RunModel } from './packs/run-model';
import { type LoadedAnalyzer } from './pipeline/analyse-pass';
import { type SessionHost } from './sessions/session';

/** Loaded models, kept between tasks: the analyser, and the engines that were used last as far as they fit. */
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

/** Loads on first use. Rejects with PackError or SessionError. */
export function createModels(host: SessionHost, { graphs, modelCacheBytes }: InferenceSettings): Models {
  // Every worker has one analyser: it is small and stays whatever the engines need.
  const analyzers = createModelCache<Loaded<LoadedAnalyzer>>(0, ({ release }) => release());
  const engines = createModelCache<Loaded<LipSyncEngine>>(modelCacheBytes, ({ release }) => release());
  let detectorRuns = 0;

  return {
    analyzer: async (packDir) => {
      const loaded = await analyzers.get(packDir, async () => {
        const pack = await openPackFor('analyzer', packDir);
        const load = async (): Promise<Loaded<LoadedAnalyzer>> => {
          const loadedPack = await loadPack(host, pack, { ...graphs, probe: false });
          const run: RunModel = (role, feeds, take) => {
            if (role === 'face_detector') detectorRuns++;
            return loadedPack.run(role, feeds, take);
          };
          const model = { params: pack.manifest.params, version: packVersion(pack), run };
          return { model, release: loadedPack.release };
        };
        return { bytes: await packSize(pack), load };
      });
      return loaded.model;
    },
    engine: async (name, packDir) => {
      const loaded = await engines.get(packDir, async () => {
        const opened = await openEngine(name, packDir);
        const load = async (): Promise<Loaded<LipSyncEngine>> => {
          const { run, release } = await loadPack(host, opened.pack, { ...graphs, probe: false });
          return { model: opened.create(run), release };
        };
        return { bytes: await packSize(opened.pack), load };
      });
      return loaded.model;
    },
    encoder: async (name, packDir) => {
      const opened = await openEngine(name, packDir);
      const { run, release } = loadOnDemand(host, opened.pack, graphs);
      return { engine: opened.create(run), release };
    },
    detectorRuns: () => detectorRuns,
  };
}
