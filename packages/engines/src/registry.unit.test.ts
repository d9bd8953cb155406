import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPack } from './packs';
import { buildBuiltinPacks } from './registry';

describe('buildBuiltinPacks', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'packs-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('writes a verified pack for the analyzer and for every engine', async () => {
    await buildBuiltinPacks(folder);
    const packs = await Promise.all((await readdir(folder)).map((name) => openPack(join(folder, name))));
    expect(packs.map(({ manifest }) => manifest.engine).sort()).toEqual([
      'analyzer',
      'highsync',
      'latentsync',
      'musetalk',
    ]);
  });

  test('leaves good packs untouched when it builds again, and repairs a damaged one', async () => {
    const first = await buildBuiltinPacks(folder);
    const written = await Promise.all(first.map(({ dir }) => stat(join(dir, 'pack.json'))));
    const musetalk = first.find(({ manifest }) => manifest.engine === 'musetalk');
    await writeFile(join(musetalk?.dir ?? '', 'unet.onnx'), 'damaged');

    const second = await buildBuiltinPacks(folder);

    expect(second.map(({ digest }) => digest)).toEqual(first.map(({ digest }) => digest));
    for (const { dir } of second) await openPack(dir);
    const again = await Promise.all(second.map(({ dir }) => stat(join(dir, 'pack.json'))));
    again.forEach(({ ino }, i) => {
      const rewritten = second[i] === second.find(({ manifest }) => manifest.engine === 'musetalk');
      expect(ino === written[i]?.ino).toBe(!rewritten);
    });
  });
});
