import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Names of the NVIDIA GPUs that this machine's driver lists, in its order; empty without a driver. The driver publishes
 * them in the file system, which, unlike its command-line tool, is present in every container with a GPU.
 */
export async function gpuModels(driverFolder = '/proc/driver/nvidia/gpus'): Promise<string[]> {
  const buses = await readdir(driverFolder).catch(() => []);
  const models: string[] = [];
  for (const bus of buses.sort()) {
    const information = await readFile(join(driverFolder, bus, 'information'), 'utf8').catch(() => '');
    const model = /^Model:\s*(.+?)\s*$/m.exec(information)?.[1];
    if (model !== undefined) models.push(model);
  }
  return models;
}
