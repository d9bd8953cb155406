import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { openPackFolders } from '@lipsync/gpu-worker';
import { type Manifest, type Pack } from '@lipsync/model-pack';
import { servingAnalyzer } from '../models/serving-analyzer';
import { type NetworkSizes } from './full-size/networks';
import { writeUntrainedHighsync } from './full-size/untrained-highsync';
import { writeUntrainedLatentsync } from './full-size/untrained-latentsync';
import { writeUntrainedMusetalk } from './full-size/untrained-musetalk';

export interface PacksToBench {
  /** Holds the face analyser, and the packs if no others are asked for. */
  readonly packsDir: string;
  /** Only packs of this engine. */
  readonly engine?: Engine;
  /** Packs of these sizes whose networks have learned nothing, in place of those under `packsDir`. */
  readonly untrained?: NetworkSizes;
}

export type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

/** A pack of an engine, and the face analyser that goes with it; see `isolatePack`. */
export interface PackToBench {
  readonly pack: Pack<EngineManifest>;
  readonly analyzerDir: string;
}

/**
 * One after the other; what is written for it lies under `folder` until the next one is asked for. Throws when there is
 * none.
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

/** Of the same engine as another pack, whose schedule it has. */
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
