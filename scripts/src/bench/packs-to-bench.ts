import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { openPackFolders } from '@lipsync/gpu-worker';
import { type Manifest, type Pack } from '@lipsync/model-pack';
import { servingAnalyzer } from '../models/serving-analyzer';
import { type NetworkSize } from './full-size/networks';
import { writeUntrainedLatentsync, writeUntrainedMusetalk } from './full-size/untrained-pack';

export interface PacksToBench {
  /** Holds the face analyser, and the packs if no others are asked for. */
  readonly packsDir: string;
  /** Only packs of this engine. */
  readonly engine?: string;
  /** Packs of this size whose networks have learned nothing, in place of those under `packsDir`. */
  readonly untrained?: NetworkSize;
}

export type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

/** A pack of an engine, and the face analyser that goes with it; see `isolatePack`. */
export interface PackToBench {
  readonly pack: Pack<EngineManifest>;
  readonly analyzerDir: string;
}

/** One after the other; what is written for it lies under `folder` until the next one is asked for. */
export async function* packsToBench(
  folder: string,
  { packsDir, engine, untrained }: PacksToBench,
): AsyncGenerator<PackToBench> {
  const { packs } = await openPackFolders(packsDir);
  const analyzerDir = servingAnalyzer(packs, packsDir).dir;
  const written = new Set<string>();
  for (const { pack } of packs) {
    const { manifest } = pack;
    if (manifest.engine === 'analyzer' || (engine !== undefined && manifest.engine !== engine)) continue;
    if (!untrained) {
      yield { pack: { ...pack, manifest }, analyzerDir };
      continue;
    }
    if (written.has(manifest.engine)) continue;
    written.add(manifest.engine);
    const dir = await mkdtemp(path.join(folder, 'untrained-'));
    const other = await writeUntrained(dir, manifest, untrained);
    if (other) yield { pack: other, analyzerDir };
    await rm(dir, { recursive: true });
  }
}

/** Of the same engine as another pack; undefined where its networks are not known at that size. */
async function writeUntrained(
  dir: string,
  manifest: EngineManifest,
  size: NetworkSize,
): Promise<Pack<EngineManifest> | undefined> {
  switch (manifest.engine) {
    case 'musetalk':
      return writeUntrainedMusetalk(dir, size);
    case 'latentsync':
      return writeUntrainedLatentsync(dir, size, manifest.params);
    case 'highsync':
      return undefined;
  }
}
