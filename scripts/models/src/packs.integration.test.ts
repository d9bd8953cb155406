import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type HighsyncManifest, openPack } from '@lipsync/engines';
import { writeHighsyncPack } from '@lipsync/engines/test';
import { MANIFEST_FILE, packVersion } from '@lipsync/model-pack';
import { testFolder } from '@lipsync/testkit';
import { installPack, listPacks, verifyPack } from './packs';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../services/gpu-worker/dist/inference/main.js');

describe('model packs on the command line', () => {
  const at = testFolder();
  let good: string;
  let dir: string;
  let packsDir: string;
  let copies = 0;

  beforeAll(async () => {
    good = at('good');
    await writeHighsyncPack(good);
    // The decoder's pixels are its latents in another order.
    const probe = { fill: { latent: 0.25 }, dims: { n: 1 }, means: { image: 0.25 }, tolerance: 0.001 };
    const manifest = JSON.parse(await readFile(path.join(good, MANIFEST_FILE), 'utf8')) as HighsyncManifest;
    manifest.name = 'highsync-official';
    manifest.roles.vae_decoder.probe = probe;
    await writeFile(path.join(good, MANIFEST_FILE), JSON.stringify(manifest, null, 2));
  });
  beforeEach(async () => {
    const own = at(`case-${++copies}`);
    dir = path.join(own, 'exported');
    packsDir = path.join(own, 'packs');
    const builtin = path.join(packsDir, 'builtin-highsync');
    for (const copy of [dir, builtin]) await cp(good, copy, { recursive: true });
    await rewriteManifest('"highsync-official"', '"builtin-highsync"', builtin);
  });

  async function rewriteManifest(from: string | RegExp, to: string, folder = dir): Promise<void> {
    const file = path.join(folder, MANIFEST_FILE);
    const before = await readFile(file, 'utf8');
    const after = before.replace(from, to);
    if (after === before) throw new Error('nothing was changed');
    await writeFile(file, after);
  }

  const install = (replace = false) => installPack(dir, packsDir, { replace, entry });
  const byFolder = async () => new Map((await listPacks(packsDir)).map((row) => [row['folder'], row]));

  test('a good pack verifies, with the provider that it runs on', async () => {
    const { row, problem } = await verifyPack(dir, { entry });
    expect(problem).toBeUndefined();
    expect(row).toMatchObject({
      engine: 'highsync',
      name: 'highsync-official',
      license: 'MIT',
      providers: 'cpu',
      digest: (await openPack(dir)).digest.slice(0, 12),
      runs_on: 'cpu',
      state: 'usable',
    });
  });

  test('a bad one is reported with what is wrong', async () => {
    await appendFile(path.join(dir, 'conditional.onnx'), '!');
    const { row, problem } = await verifyPack(dir, { entry });
    expect(problem).toContain('conditional.onnx');
    expect(row['state']).toBe(`refused: ${problem}`);
  });

  test.each<[string, string, () => Promise<void>]>([
    [
      'a file with one changed byte',
      'conditional.onnx',
      () => appendFile(path.join(dir, 'conditional.onnx'), '!'),
    ],
    [
      'a manifest that promises another shape',
      "output 'tokens' is [n,64,48], the manifest says [n,64,47]",
      () =>
        rewriteManifest(
          /("name": "tokens",\s*"dtype": "float32",\s*"dims": \[\s*(?:"n"|12),\s*64,\s*)48/g,
          '$147',
        ),
    ],
    [
      'a manifest whose parameters do not fit its tensors',
      'roles.denoising_unet.inputs.latent: is float32 [1,48,12,8,8], the parameters ask for float32 [1,48,8,8,8]',
      () => rewriteManifest('"window": 12', '"window": 8'),
    ],
    [
      'a manifest that names a tensor otherwise',
      "the graph wants an input 'tokens' that the manifest does not name",
      () => rewriteManifest(/("denoising_unet": [^]*?"name": )"tokens"/, '$1"other"'),
    ],
    [
      'a probe with another result',
      "the mean of 'image' is",
      () => rewriteManifest('"image": 0.25', '"image": 0.2'),
    ],
    ['a manifest that is none', 'pack.json', () => rewriteManifest('"format": 1', '"format": 2')],
    ['a folder that is not there', 'pack.json cannot be read', () => rm(dir, { recursive: true })],
  ])('%s is refused by name, and not installed', async (_, reason, spoil) => {
    await spoil();
    await expect(install()).rejects.toThrow(reason);
    expect(await readdir(packsDir)).toEqual(['builtin-highsync']);
  });

  test('an installed pack is the one served, with the built-in one as fallback', async () => {
    expect(await install()).toMatchObject({ name: 'highsync-official', state: 'installed' });
    const rows = await byFolder();
    expect(rows.get('highsync-official')).toMatchObject({ engine: 'highsync', state: 'serves' });
    const version = packVersion(await openPack(dir));
    expect(rows.get('builtin-highsync')?.['state']).toBe(`not used: ${version} serves highsync`);
  });

  test('installing again changes nothing; another pack of the same name is installed only with the option to replace', async () => {
    await install();
    expect(await install()).toMatchObject({ state: 'was installed already' });
    await rewriteManifest('"version": "1.0.0"', '"version": "1.0.1"');
    await expect(install()).rejects.toThrow('holds highsync-official 1.0.0');
    expect((await byFolder()).get('highsync-official')).toMatchObject({ version: '1.0.0' });
    expect(await install(true)).toMatchObject({ version: '1.0.1', state: 'replaced' });
  });

  test('a damaged installation is repaired', async () => {
    await install();
    await writeFile(path.join(packsDir, 'highsync-official', 'decoder.onnx'), 'damaged');
    const damaged = await byFolder();
    expect(damaged.get('highsync-official')).toMatchObject({ engine: 'highsync', name: 'highsync-official' });
    expect(damaged.get('highsync-official')?.['state']).toContain('decoder.onnx');
    expect(damaged.get('builtin-highsync')?.['state']).toMatch(
      /^not used: .*highsync-official comes first and cannot be used$/,
    );
    await install();
    expect((await byFolder()).get('highsync-official')).toMatchObject({ state: 'serves' });
  });

  test('names that the build writes are reserved', async () => {
    await rewriteManifest('"highsync-official"', '"builtin-mine"');
    await expect(install()).rejects.toThrow('builtin-mine');
    expect(await readdir(packsDir)).toEqual(['builtin-highsync']);
  });

  test('a missing folder of packs is reported as missing', async () => {
    await expect(listPacks(at('nowhere'))).rejects.toThrow('ENOENT');
  });
});
