import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The name of the NVIDIA GPU that graphs run on; empty without a driver. The runtime uses one device and does not say
 * which, so with GPUs of several models the name is unknown: empty as well. The driver publishes the names in the file
 * system, which, unlike its command-line tool, is present in every container with a GPU.
 */
export async function gpuModels(driverFolder = '/proc/driver/nvidia/gpus'): Promise<string[]> {
  const buses = await readdir(driverFolder).catch(() => []);
  const models = new Set<string>();
  for (const bus of buses) {
    const information = await readFile(join(driverFolder, bus, 'information'), 'utf8').catch(() => '');
    const model = /^Model:\s*(.+?)\s*$/m.exec(information)?.[1];
    if (model !== undefined) models.add(model);
  }
  return models.size === 1 ? [...models] : [];
}
