import { type TaskPack } from '../protocol/messages';
import { type LoadedAnalyzer } from './analyzer/loaded-analyzer';
import { type InferenceSettings } from './inference-settings';
import { createModelCache } from './model-cache';
import { loadOnDemand } from './packs/load-on-demand';
import { type LoadOptions, loadPack } from './packs/load-pack';
import { isOutOfMemory } from './pipeline/task-failure';
import { type SessionHost } from './sessions/session';
import { type Engine } from '@lipsync/contract';
import { readPackAgain, type LipSyncEngine, openEngine, type RunModel } from '@lipsync/engines';
import { packVersion, rememberDigests, weightsSize } from '@lipsync/model-pack';

/** Loaded models, kept between tasks: the analyser, and the most recently used engines as far as they fit. */
export interface Models {
  analyzer(pack: TaskPack): Promise<LoadedAnalyzer>;
  /** With `probe`, graphs that are not loaded yet are also run once: the first run on a device takes longer. */
  engine(name: Engine, pack: TaskPack, options?: { readonly probe: boolean }): Promise<LipSyncEngine>;
  /** An engine for the use of its encoder only: it is not kept, and loads only the graphs that it runs. */
  encoder(name: Engine, pack: TaskPack): Promise<EngineForOnce>;
  /** Releases all engines: how much device memory they hold depends on their most recent inputs. */
  releaseEngines(): Promise<void>;
  /** How often the face detector has run so far. */
  detectorRuns(): number;
}

export interface EngineForOnce {
  readonly engine: LipSyncEngine;
  /** Releases its graphs. */
  readonly release: () => Promise<void>;
}

/** A model with the means to release its graphs. */
interface Loaded<T> {
  readonly model: T;
  readonly release: () => Promise<void>;
}

/**
 * Loads exactly the named packs, on first use. A pack that was replaced since is refused; one that is already loaded
 * stays in use. Rejects with PackError or SessionError.
 */
export function createModels(
  host: SessionHost,
  { graphs, modelCacheBytes, spareBytes }: InferenceSettings,
): Models {
  // Every worker has one analyser: it is small and stays loaded whatever the engines need.
  const analyzers = createModelCache<Loaded<LoadedAnalyzer>>(0, ({ release }) => release());
  const engines = createModelCache<Loaded<LipSyncEngine>>(
    modelCacheBytes,
    ({ release }) => release(),
    isOutOfMemory,
  );
  const digestOf = rememberDigests();
  let detectorRuns = 0;

  const optionsFor = ({ provider }: TaskPack): Omit<LoadOptions, 'only'> => ({
    ...graphs,
    ...(provider && { providers: [provider] }),
    ...{ probe: false, digestOf },
  });

  return {
    analyzer: async (named) => {
      const loaded = await analyzers.get(named.digest, async () => {
        const pack = await readPackAgain('analyzer', named);
        const load = async (): Promise<Loaded<LoadedAnalyzer>> => {
          const loadedPack = await loadPack(host, pack, optionsFor(named));
          const run: RunModel = (role, feeds, take) => {
            if (role === 'face_detector') detectorRuns++;
            return loadedPack.run(role, feeds, take);
          };
          const model = { params: pack.manifest.params, version: packVersion(pack), run };
          return { model, release: loadedPack.release };
        };
        return { bytes: await weightsSize(pack), load };
      });
      return loaded.model;
    },
    engine: async (name, named, { probe } = { probe: false }) => {
      const loaded = await engines.get(named.digest, async () => {
        const opened = await openEngine(name, named);
        const load = async (): Promise<Loaded<LipSyncEngine>> => {
          const { run, release } = await loadPack(host, opened.pack, { ...optionsFor(named), probe });
          return { model: opened.create(run, spareBytes), release };
        };
        return { bytes: await weightsSize(opened.pack), load };
      });
      return loaded.model;
    },
    encoder: async (name, named) => {
      const opened = await openEngine(name, named);
      const { run, release } = loadOnDemand(host, opened.pack, optionsFor(named));
      return { engine: opened.create(run), release };
    },
    releaseEngines: () => engines.clear(),
    detectorRuns: () => detectorRuns,
  };
}
