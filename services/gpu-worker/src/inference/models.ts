import { type Engine } from '@lipsync/contract';
import {
  type LipSyncEngine,
  openEngine,
  type Pack,
  readPackAgain,
  type RunModel,
  SessionError,
} from '@lipsync/engines';
import { packVersion, rememberDigests, weightsSize } from '@lipsync/model-pack';
import { type TaskPack } from '../protocol/messages';
import { type LoadedAnalyzer } from './analyzer/analyze-faces';
import { type InferenceSettings } from './inference-settings';
import { type LoadedPack, type LoadOptions, loadPack } from './packs/load-pack';
import { type SessionHost } from './sessions/session';
import { isOutOfMemory } from './task-failure';

export type Models = ReturnType<typeof createModels>;

/** Where graphs run: those of the analyzer beside those of the engines. */
export interface SessionHosts<Host extends SessionHost = SessionHost> {
  readonly analyzer: Host;
  readonly engines: Host;
}

/**
 * Loaded models, kept between tasks: the analyzer, and the most recently used engines as far as they fit. Loads exactly
 * the named packs, on first use. A pack that was replaced since is refused; one that is already loaded stays in use.
 * Rejects with PackError or SessionError.
 */
export function createModels(
  hosts: SessionHosts,
  { graphs, modelCacheBytes, spareBytes }: InferenceSettings,
) {
  // Every worker has one analyzer: it is small and stays loaded whatever the engines need.
  const analyzers = createModelCache<LoadedAnalyzer>(0);
  const engines = createModelCache<LipSyncEngine>(modelCacheBytes);
  const digestOf = rememberDigests();
  let detectorRuns = 0;

  const optionsFor = ({ provider }: TaskPack): Omit<LoadOptions, 'only'> => ({
    ...graphs,
    ...(provider && { providers: [provider] }),
    probe: false,
    digestOf,
  });

  return {
    analyzer: (named: TaskPack): Promise<LoadedAnalyzer> =>
      analyzers.get(named.digest, async () => {
        const pack = await readPackAgain('analyzer', named);
        const load = async (): Promise<Loaded<LoadedAnalyzer>> => {
          const loadedPack = await loadPack(hosts.analyzer, pack, optionsFor(named));
          const run: RunModel = (role, feeds, take) => {
            if (role === 'face_detector') detectorRuns++;
            return loadedPack.run(role, feeds, take);
          };
          const model = { params: pack.manifest.params, version: packVersion(pack), run };
          return { model, release: loadedPack.release };
        };
        return { bytes: await weightsSize(pack), load };
      }),
    /** With `probe`, graphs that are not loaded yet are also run once: the first run on a device takes longer. */
    engine: (name: Engine, named: TaskPack, { probe } = { probe: false }): Promise<LipSyncEngine> =>
      engines.get(named.digest, async () => {
        const opened = await openEngine(name, named);
        const load = async (): Promise<Loaded<LipSyncEngine>> => {
          const { run, release } = await loadPack(hosts.engines, opened.pack, {
            ...optionsFor(named),
            probe,
          });
          return { model: opened.create(run, spareBytes), release };
        };
        return { bytes: await weightsSize(opened.pack), load };
      }),
    /** An engine for the use of its encoder only: it is not kept, and loads only the graphs that it runs. */
    encoder: async (name: Engine, named: TaskPack): Promise<Loaded<LipSyncEngine>> => {
      const opened = await openEngine(name, named);
      const { run, release } = loadOnDemand(hosts.engines, opened.pack, optionsFor(named));
      return { model: opened.create(run), release };
    },
    /** Releases all engines: how much device memory they hold depends on their most recent inputs. */
    releaseEngines: (): Promise<void> => engines.clear(),
    /** How often the face detector has run so far. */
    detectorRuns: () => detectorRuns,
  };
}

/**
 * A pack whose graphs are loaded individually, on first run: for work that needs only some of them. `run` rejects as
 * `loadPack` does, and with SessionError('closed') after the release.
 */
export function loadOnDemand(host: SessionHost, pack: Pack, options: Omit<LoadOptions, 'only'>) {
  const loading = new Map<string, Promise<LoadedPack>>();
  const running = new Set<Promise<unknown>>();
  let released = false;
  const load = (role: string): Promise<LoadedPack> => {
    const loaded = loading.get(role) ?? loadPack(host, pack, { ...options, only: [role] });
    loading.set(role, loaded);
    return loaded;
  };
  // Stopped work may be between two of its runs: its next run must not load what nothing would release.
  const expectHeld = (): void => {
    if (released) throw new SessionError('closed', 'the pack was released');
  };
  const runLoaded: RunModel = async (role, feeds, take) => {
    expectHeld();
    const { run } = await load(role);
    expectHeld();
    return run(role, feeds, take);
  };
  const run: RunModel = async (role, feeds, take) => {
    const result = runLoaded(role, feeds, take);
    running.add(result);
    try {
      return await result;
    } finally {
      running.delete(result);
    }
  };
  return {
    run,
    /** Refuses every further run, waits for the current ones, and releases what was loaded. */
    release: async (): Promise<void> => {
      released = true;
      await Promise.allSettled(running);
      const loads = await Promise.allSettled(loading.values());
      loading.clear();
      for (const load of loads) if (load.status === 'fulfilled') await load.value.release();
    },
  };
}

/** A model with the means to release its graphs. */
interface Loaded<T> {
  readonly model: T;
  readonly release: () => Promise<void>;
}

/** A model that is not loaded yet. */
interface Loadable<T> {
  /** Size of its weights. */
  readonly bytes: number;
  readonly load: () => Promise<Loaded<T>>;
}

/** Keeps loaded models by key, as many as fit into `maxBytes` of weights. Calls must not overlap. */
export function createModelCache<T>(maxBytes: number) {
  // Ordered by use, least recent first.
  const kept = new Map<string, Loaded<T> & { readonly bytes: number }>();
  let total = 0;

  const shrinkTo = async (bytes: number): Promise<void> => {
    for (const [oldest, entry] of kept) {
      if (total <= bytes) break;
      kept.delete(oldest);
      total -= entry.bytes;
      await entry.release();
    }
  };

  return {
    /** Releases everything. */
    clear: () => shrinkTo(-1),
    /**
     * The model under `key`, loaded with `open` if it is not kept. Before loading, the least recently used models are
     * released until the new one fits; a model larger than the cache is kept alone. If memory is still too short, all
     * others are released and loading is tried once more, because they take more of a device's memory than their
     * weights.
     */
    async get(key: string, open: () => Promise<Loadable<T>>): Promise<T> {
      const found = kept.get(key);
      if (found) {
        kept.delete(key);
        kept.set(key, found);
        return found.model;
      }
      const { bytes, load } = await open();
      await shrinkTo(maxBytes - bytes);
      const loaded = await load().catch(async (error: unknown) => {
        if (kept.size === 0 || !isOutOfMemory(error)) throw error;
        await shrinkTo(-1);
        return load();
      });
      kept.set(key, { ...loaded, bytes });
      total += bytes;
      return loaded.model;
    },
  };
}
