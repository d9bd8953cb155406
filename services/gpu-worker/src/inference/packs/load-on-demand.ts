import { type Pack } from '@lipsync/model-pack';
import { type SessionHost } from '../sessions/session';
import { type LoadedPack, type LoadOptions, loadPack } from './load-pack';
import { type RunModel } from './run-model';

/** A pack whose graphs are loaded one by one, when they are first run: for work that needs only some of them. */
export interface PackOnDemand {
  readonly run: RunModel;
  /** Lets go of what was loaded. */
  readonly release: () => Promise<void>;
}

/** Loads nothing yet; `run` rejects as `loadPack` does. */
export function loadOnDemand(
  host: SessionHost,
  pack: Pack,
  options: Omit<LoadOptions, 'only'>,
): PackOnDemand {
  const loading = new Map<string, Promise<LoadedPack>>();
  const load = (role: string): Promise<LoadedPack> => {
    const loaded = loading.get(role) ?? loadPack(host, pack, { ...options, only: [role] });
    loading.set(role, loaded);
    return loaded;
  };
  return {
    run: async (role, feeds, take) => (await load(role)).run(role, feeds, take),
    release: async () => {
      const loads = await Promise.allSettled(loading.values());
      loading.clear();
      for (const load of loads) if (load.status === 'fulfilled') await load.value.release();
    },
  };
}
