import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gpuModels } from './pod-meter';

test.each([
  ['the GPU is', ['NVIDIA L4'], ['NVIDIA L4']],
  ['of equal GPUs the one in use is', ['NVIDIA L4', 'NVIDIA L4'], ['NVIDIA L4']],
  ['of different GPUs none is', ['NVIDIA H100 80GB HBM3', 'NVIDIA L4'], []],
])('%s named as the driver names it', async (_, present, named) => {
  const folder = await mkdtemp(join(tmpdir(), 'gpus-'));
  try {
    for (const [i, model] of present.entries()) {
      const bus = join(folder, `0000:0${i}:00.0`);
      await mkdir(bus);
      await writeFile(join(bus, 'information'), `Model: \t\t ${model}\nIRQ:   \t\t 60\n`);
    }
    await expect(gpuModels(folder)).resolves.toEqual(named);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a machine without the driver has no GPUs', async () => {
  await expect(gpuModels(join(tmpdir(), 'no-such-driver'))).resolves.toEqual([]);
});
