import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gpuModels } from './gpu-models';

test('GPUs are named as the driver names them, in the order of the bus', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpus-'));
  try {
    for (const [bus, model] of [
      ['0000:41:00.0', 'NVIDIA L4'],
      ['0000:01:00.0', 'NVIDIA H100 80GB HBM3'],
    ] as const) {
      await mkdir(join(folder, bus));
      await writeFile(join(folder, bus, 'information'), `Model: \t\t ${model}\nIRQ:   \t\t 60\n`);
    }
    await expect(gpuModels(folder)).resolves.toEqual(['NVIDIA H100 80GB HBM3', 'NVIDIA L4']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a machine without the driver has no GPUs', async () => {
  await expect(gpuModels(join(tmpdir(), 'no-such-driver'))).resolves.toEqual([]);
});
