import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/engines';
import { COMPILED_CHILD } from '../test/compiled';
import { createInferenceHost } from './inference-host';

test('a process that ran graphs leaves no identifier of the machine, and nothing else, in its home', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'child-privacy-'));
  const home = await mkdtemp(join(folder, 'home-'));
  const environment = { PATH: process.env['PATH'], HOME: home };
  const host = createInferenceHost({ entry: COMPILED_CHILD, environment });
  try {
    await buildBuiltinPacks(join(folder, 'packs'));
    const { packs } = await host.verify({ jobId: 'verify', packDirs: [join(folder, 'packs/analyzer')] });
    expect(packs).toMatchObject([{ provider: 'cpu' }]);
    expect(await readdir(home)).toEqual([]);
  } finally {
    host.kill();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
