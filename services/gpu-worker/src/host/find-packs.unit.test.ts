import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { MANIFEST_FILE } from '@lipsync/model-pack';
import { testFolder } from '@lipsync/testkit';
import { findPacks, openPackFolders } from './find-packs';

const ENGINES = ['musetalk', 'latentsync', 'highsync'];

describe('which pack serves an engine', () => {
  const at = testFolder();
  let good: string;
  let dir: string;
  let copies = 0;

  beforeAll(async () => {
    good = at('good');
    await buildBuiltinPacks(good);
  });
  beforeEach(async () => {
    dir = at(`copy-${++copies}`);
    await cp(good, dir, { recursive: true });
    await cp(join(dir, 'builtin-musetalk'), join(dir, 'official'), { recursive: true });
    const before = await readFile(manifest('official'), 'utf8');
    await writeFile(manifest('official'), before.replace('"builtin-musetalk"', '"official"'));
  });

  const manifest = (folder: string): string => join(dir, folder, MANIFEST_FILE);
  /** Folders of the packs that serve, by engine. */
  async function serving(): Promise<Record<string, string>> {
    const { engines, analyzer } = await findPacks(dir);
    expect(analyzer?.dir).toBe(join(dir, 'analyzer'));
    return Object.fromEntries([...engines].map(([engine, pack]) => [engine, basename(pack.dir)]));
  }
  const builtin = (...engines: string[]) =>
    Object.fromEntries(engines.map((engine) => [engine, `builtin-${engine}`]));
  const refusals = async () =>
    new Map((await findPacks(dir)).problems.map(({ dir: folder, problem }) => [basename(folder), problem]));

  test("is the operator's, and the built-in ones of the others", async () => {
    expect(await serving()).toEqual({ ...builtin(...ENGINES), musetalk: 'official' });
    expect((await refusals()).get('builtin-musetalk')).toMatch(/^not used: official@.* serves musetalk$/);
  });

  test("is none when the operator's is damaged: the built-in one is no stand-in for it", async () => {
    await appendFile(join(dir, 'official', 'vae-decoder.onnx'), '!');
    expect(await serving()).toEqual(builtin('latentsync', 'highsync'));
    const refused = await refusals();
    expect(refused.get('official')).toContain('SHA-256');
    expect(refused.get('builtin-musetalk')).toBe(
      `not used: ${join(dir, 'official')} comes first and cannot be used`,
    );
    expect((await openPackFolders(dir)).bad).toMatchObject([
      { dir: join(dir, 'official'), claim: { engine: 'musetalk', name: 'official' } },
    ]);
  });

  test("is, for the face analyzer, also the operator's, whatever its name, and none when that is damaged", async () => {
    await cp(join(dir, 'analyzer'), join(dir, 'zz-landmarks'), { recursive: true });
    const before = await readFile(manifest('zz-landmarks'), 'utf8');
    await writeFile(manifest('zz-landmarks'), before.replace('"builtin-face-api-68"', '"zz-landmarks"'));
    expect((await findPacks(dir)).analyzer?.dir).toBe(join(dir, 'zz-landmarks'));
    expect((await refusals()).get('analyzer')).toMatch(/^not used: zz-landmarks@.* serves analyzer$/);

    await appendFile(join(dir, 'zz-landmarks', 'landmarks68.onnx'), '!');
    expect((await findPacks(dir)).analyzer).toBeUndefined();
  });

  test("is none when the operator's manifest is of a form that is not known", async () => {
    const before = await readFile(manifest('official'), 'utf8');
    await writeFile(manifest('official'), before.replace('"format": 1', '"format": 2'));
    expect(await serving()).toEqual(builtin('latentsync', 'highsync'));
  });

  test('is no built-in one while a manifest does not tell for which engine it is', async () => {
    await cp(join(dir, 'official'), join(dir, 'mystery'), { recursive: true });
    await writeFile(manifest('mystery'), '{');
    expect(await serving()).toEqual({ musetalk: 'official' });
    expect((await refusals()).get('builtin-highsync')).toBe(
      `not used: ${join(dir, 'mystery')} may be for highsync and cannot be used`,
    );
  });

  test('is any other one when a built-in pack is damaged', async () => {
    await writeFile(manifest('builtin-latentsync'), '{');
    await appendFile(join(dir, 'builtin-musetalk', 'unet.onnx'), '!');
    expect(await serving()).toEqual({ musetalk: 'official', highsync: 'builtin-highsync' });
  });

  test('does not depend on folders that are meant for something else', async () => {
    await mkdir(join(dir, 'notes'));
    await writeFile(join(dir, 'notes', 'readme.txt'), 'not a pack');
    // On many volumes this folder has another owner and cannot be read.
    await mkdir(join(dir, 'lost+found'));
    await writeFile(manifest('lost+found'), '{');
    // A pack that is still being written.
    await mkdir(join(dir, '.other-x1y2'));
    await writeFile(manifest('.other-x1y2'), '{');
    expect(await serving()).toEqual({ ...builtin(...ENGINES), musetalk: 'official' });
  });
});
