import { type PackReport } from '../protocol/messages';
import { type LoadOptions, loadPack } from './packs/load-pack';
import { isOutOfMemory } from './pipeline/task-failure';
import { type SessionHost } from './sessions/session';
import { type Engine } from '@lipsync/contract';
import { readPack, type FeatureLayout, isWorthKeeping, openEngine, type RunModel } from '@lipsync/engines';
import { type PackRef } from '@lipsync/model-pack';

/**
 * Opens a pack, loads all its graphs, runs the probes and releases them again. Never rejects: failures are reported.
 */
export async function verifyPack(
  host: SessionHost,
  packDir: string,
  options: Omit<LoadOptions, 'probe' | 'only'>,
): Promise<PackReport> {
  try {
    const pack = await readPack(packDir);
    const { engine } = pack.manifest;
    const loaded = await loadPack(host, pack, { ...options, probe: true });
    const { provider, passedOver } = loaded;
    try {
      const features = engine === 'analyzer' ? undefined : await keptLayout(engine, pack, loaded.run);
      return {
        ...{ packDir, provider },
        ...(passedOver.length > 0 && { passedOver }),
        ...(features && { features }),
      };
    } finally {
      await loaded.release();
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { packDir, problem, ...(isOutOfMemory(error) && { shortOfMemory: true }) };
  }
}

/** The layout of the features that an engine keeps with this pack, if any. */
async function keptLayout(engine: Engine, pack: PackRef, run: RunModel): Promise<FeatureLayout | undefined> {
  const { features } = (await openEngine(engine, pack)).create(run);
  return isWorthKeeping(features) ? features : undefined;
}
