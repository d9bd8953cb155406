import { type Pack } from '@lipsync/engines';
import { packFiles, type Provider } from '@lipsync/model-pack';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Networks with this many bytes of weights take about a second per face on a CPU, so decoder and encoder wait for them.
 */
const HEAVY_BYTES = 256 * 2 ** 20;

/**
 * Number of threads inside a pack's graph on a given provider: half of the process's cores, because the other half
 * decodes, encodes and moves pixels; all of them where that work is negligible beside the networks.
 */
export async function graphThreads(pack: Pack, provider: Provider, cores: number): Promise<number> {
  const heavy = provider === 'cpu' && (await bytesOf(pack)) >= HEAVY_BYTES;
  return heavy ? cores : Math.max(1, Math.floor(cores / 2));
}

/** A missing file counts as 0 bytes; whoever needs it reports the error. */
async function bytesOf({ dir, manifest }: Pack): Promise<number> {
  const sizeOf = (file: string): Promise<number> =>
    stat(join(dir, file)).then(
      ({ size }) => size,
      () => 0,
    );
  const sizes = await Promise.all(packFiles(manifest).map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}
