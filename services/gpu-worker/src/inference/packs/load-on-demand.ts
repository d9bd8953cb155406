import { type SessionHost } from '../sessions/session';
import { type LoadedPack, type LoadOptions, loadPack } from './load-pack';
import { SessionError, type RunModel, type Pack } from '@lipsync/engines';

/** A pack whose graphs are loaded individually, on first run: for work that needs only some of them. */
export interface PackOnDemand {
  readonly run: RunModel;
  /** Refuses every further run, waits for the current ones, and releases what was loaded. */
  readonly release: () => Promise<void>;
}

/** Loads nothing yet; `run` rejects as `loadPack` does, and with SessionError('closed') after the release. */
export function loadOnDemand(
  host: SessionHost,
  pack: Pack,
  options: Omit<LoadOptions, 'only'>,
): PackOnDemand {
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
    if (released) throw new SessionError('closed', 'the pack was let go of');
  };
  const runLoaded: RunModel = async (role, feeds, take) => {
    expectHeld();
    const { run } = await load(role);
    expectHeld();
    return run(role, feeds, take);
  };
  return {
    run: async (role, feeds, take) => {
      const result = runLoaded(role, feeds, take);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    release: async () => {
      released = true;
      await Promise.allSettled(running);
      const loads = await Promise.allSettled(loading.values());
      loading.clear();
      for (const load of loads) if (load.status === 'fulfilled') await load.value.release();
    },
  };
}
