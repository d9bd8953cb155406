import { openPack } from '@lipsync/model-pack';
import { openEngine } from '../engines/registry';
import { isWorthKeeping } from '../pipeline/feature-file';
import { type PackReport } from '../protocol';
import { type SessionHost } from '../sessions/session';
import { type GraphSettings, loadPack } from './load-pack';

/** Opens a pack, loads every graph of it, runs the probes and lets go of it again. Never rejects: it reports. */
export async function verifyPack(
  host: SessionHost,
  packDir: string,
  graphs: GraphSettings,
): Promise<PackReport> {
  try {
    const pack = await openPack(packDir);
    const { engine } = pack.manifest;
    const loaded = await loadPack(host, pack, { ...graphs, probe: true });
    const opened = engine === 'analyzer' ? undefined : await openEngine(engine, packDir);
    const features = opened?.create(loaded.run).features;
    await loaded.release();
    const kept = features && isWorthKeeping(features);
    return { packDir, provider: loaded.provider, ...(kept && { featuresVersion: features.version }) };
  } catch (error) {
    return { packDir, problem: error instanceof Error ? error.message : String(error) };
  }
}
