import { servingAnalyzer } from '../models/serving-analyzer';
import { type NetworkSizes } from './full-size/networks';
import { writeUntrainedHighsync } from './full-size/untrained-highsync';
import { writeUntrainedLatentsync } from './full-size/untrained-latentsync';
import { writeUntrainedMusetalk } from './full-size/untrained-musetalk';
import { type Engine } from '@lipsync/contract';
import { type Manifest, type Pack } from '@lipsync/engines';
import { openPackFolders } from '@lipsync/gpu-worker';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';

export interface PacksToBench {
  /** Contains the face analyser, and the packs unless others are requested. */
  readonly packsDir: string;
  /** Restricts the benchmark to this engine's packs. */
  readonly engine?: Engine;
  /** Use packs of these sizes with untrained networks instead of those under `packsDir`. */
  readonly untrained?: NetworkSizes;
}

export type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

/** An engine's pack and the face analyser that goes with it; see `isolatePack`. */
export interface PackToBench {
  readonly pack: Pack<EngineManifest>;
  readonly analyzerDir: string;
}

/**
 * Yields one pack at a time; files written for it stay under `folder` until the next one is requested. Throws when
 * there is none.
 */
export async function* packsToBench(
  folder: string,
  { packsDir, engine, untrained }: PacksToBench,
): AsyncGenerator<PackToBench> {
  const { packs } = await openPackFolders(packsDir);
  const analyzerDir = servingAnalyzer(packs, packsDir).dir;
  let count = 0;
  for (const { pack, behind } of packs) {
    const { manifest } = pack;
    if (manifest.engine === 'analyzer' || (engine !== undefined && manifest.engine !== engine)) continue;
    if (!untrained) {
      count++;
      yield { pack: { ...pack, manifest }, analyzerDir };
    } else if (behind === undefined) {
      count++;
      const dir = await mkdtemp(path.join(folder, 'untrained-'));
      yield { pack: await writeUntrained(dir, manifest, untrained), analyzerDir };
      await rm(dir, { recursive: true });
    }
  }
  if (count === 0) throw new Error(`there is no such pack to measure: ${engine ?? 'any engine'}`);
}

/** Writes an untrained pack of another pack's engine, with its schedule. */
async function writeUntrained(
  dir: string,
  manifest: EngineManifest,
  sizes: NetworkSizes,
): Promise<Pack<EngineManifest>> {
  switch (manifest.engine) {
    case 'musetalk':
      return writeUntrainedMusetalk(dir, sizes.musetalk);
    case 'latentsync':
      return writeUntrainedLatentsync(dir, sizes.latentsync, manifest.params);
    case 'highsync':
      return writeUntrainedHighsync(dir, sizes.highsync, manifest.params);
  }
}
