import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Pack, packFiles, type Provider } from '@lipsync/model-pack';

/** Networks with so many weights take a second or so for a face on a processor: its decoder and encoder wait for them. */
const HEAVY_BYTES = 256 * 2 ** 20;

/**
 * Threads inside a graph of a pack, on one of the providers: half of the process's cores, because the other half decodes,
 * encodes and moves pixels; all of them where that takes next to nothing beside the networks.
 */
export async function graphThreads(pack: Pack, provider: Provider, cores: number): Promise<number> {
  const heavy = provider === 'cpu' && (await bytesOf(pack)) >= HEAVY_BYTES;
  return heavy ? cores : Math.max(1, Math.floor(cores / 2));
}

/** A file that is gone counts nothing here: who needs it says so. */
async function bytesOf({ dir, manifest }: Pack): Promise<number> {
  const sizeOf = (file: string): Promise<number> =>
    stat(join(dir, file)).then(
      ({ size }) => size,
      () => 0,
    );
  const sizes = await Promise.all(packFiles(manifest).map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}
