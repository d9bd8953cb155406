import { openPack } from '@lipsync/model-pack';
import { isImplemented } from '../engines/registry';
import { type PackReport } from '../protocol';
import { type SessionHost } from '../sessions/session';
import { loadPack } from './load-pack';

/** Opens a pack, loads every graph of it, runs the probes and lets go of it again. Never rejects: it reports. */
export async function verifyPack(host: SessionHost, packDir: string, threads: number): Promise<PackReport> {
  try {
    const pack = await openPack(packDir);
    const { engine } = pack.manifest;
    if (engine !== 'analyzer' && !isImplemented(engine))
      throw new Error(`this worker cannot render with ${engine}`);
    const loaded = await loadPack(host, pack, { threads, probe: true });
    await loaded.release();
    return { packDir, provider: loaded.provider };
  } catch (error) {
    return { packDir, problem: error instanceof Error ? error.message : String(error) };
  }
}
