import { type Engine } from '@lipsync/contract';
import { packSize, packVersion, readPackAgain, rememberDigests } from '@lipsync/model-pack';
import { type LipSyncEngine } from './engines/engine';
import { openEngine } from './engines/registry';
import { type InferenceSettings } from './inference-settings';
import { createModelCache } from './model-cache';
import { loadOnDemand } from './packs/load-on-demand';
import { type LoadOptions, loadPack } from './packs/load-pack';
import { type RunModel } from './packs/run-model';
import { type LoadedAnalyzer } from './analyzer/loaded-analyzer';
import { type TaskPack } from '../protocol/messages';
import { type SessionHost } from './sessions/session';
import { isOutOfMemory } from './pipeline/task-failure';

/** Loaded models, kept between tasks: the analyser, and the engines that were used last as far as they fit. */
export interface Models {
  analyzer(pack: TaskPack): Promise<LoadedAnalyzer>;
  /** With `probe` its graphs are also run once if they are not loaded yet: the first run on a device takes longer. */
  engine(name: Engine, pack: TaskPack, options?: { readonly probe: boolean }): Promise<LipSyncEngine>;
  /** An engine for the sake of its encoder: it is not kept, and loads no graph that is not run. */
  encoder(name: Engine, pack: TaskPack): Promise<EngineForOnce>;
  /** Lets go of all engines: what they were fed last decides how much of a device's memory they hold. */
  releaseEngines(): Promise<void>;
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

/**
 * Loads on first use, the very packs that are named: one that was replaced since is refused, one that is loaded goes on.
 * Rejects with PackError or SessionError.
 */
export function createModels(
  host: SessionHost,
  { graphs, modelCacheBytes, spareBytes }: InferenceSettings,
): Models {
  // Every worker has one analyser: it is small and stays whatever the engines need.
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
        return { bytes: await packSize(pack), load };
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
        return { bytes: await packSize(opened.pack), load };
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
