import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPack } from '@lipsync/engines';
import { buildBuiltinPacks } from './builtin-packs';

test('the build writes a verified pack for the analyzer and for every engine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'packs-'));
  try {
    await buildBuiltinPacks(folder);
    const packs = await Promise.all((await readdir(folder)).map((name) => openPack(join(folder, name))));
    const engines = packs.map(({ manifest }) => manifest.engine);
    expect(engines.sort()).toEqual(['analyzer', 'highsync', 'latentsync', 'musetalk']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
