import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { manifestSchema, roleSchema } from './manifest';
import { modelFile, packSize, packVersion, verifyPackFiles, weightsSize } from './pack';
import { createPackFormat } from './pack-format';

const detectorSchema = manifestSchema(
  'analyzer',
  {
    face_detector: roleSchema(['image'], ['boxes', 'scores']),
    landmarks68: roleSchema(['image'], ['points']),
  },
  z.strictObject({ inputSize: z.int().positive() }),
);
const otherSchema = manifestSchema(
  'musetalk',
  { unet: roleSchema(['latent'], ['latent']) },
  z.strictObject({}),
);
const schema = z.discriminatedUnion('engine', [detectorSchema, otherSchema]);
const { copyPack, openPack, openPackFor, readPack, readPackAgain, writePack } = createPackFormat(schema, [
  'analyzer',
  'musetalk',
]);
type Manifest = z.infer<typeof detectorSchema>;

const MODELS = { 'detector.onnx': Buffer.from('detector'), 'landmarks.onnx': Buffer.from('landmarks') };
const image = { name: 'image', dtype: 'uint8', dims: ['n', 3, 32, 32], range: [0, 255] } as const;
const output = { name: 'out', dtype: 'float32', dims: ['n', 136] } as const;

function manifest(): Manifest {
  return {
    format: 1,
    engine: 'analyzer',
    name: 'test-analyzer',
    version: '1.2.3',
    license: { spdx: 'MIT', source: 'made here' },
    providers: ['cpu'],
    roles: {
      face_detector: {
        ...modelFile('detector.onnx', MODELS['detector.onnx']),
        inputs: { image: { ...image, dims: [...image.dims], range: [0, 255] } },
        outputs: {
          boxes: { ...output, dims: ['k', 4] },
          scores: { ...output, dims: ['k'] },
        },
      },
      landmarks68: {
        ...modelFile('landmarks.onnx', MODELS['landmarks.onnx']),
        inputs: { image: { ...image, dims: [...image.dims], range: [0, 255] } },
        outputs: { points: { ...output, dims: [...output.dims] } },
      },
    },
    params: { inputSize: 112 },
  };
}

describe('openPack', () => {
  let root: string;
  let dir: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pack-'));
    dir = join(root, 'analyzer');
  });
  afterEach(() => rm(root, { recursive: true }));

  test('opens a pack that was written, and its version identifies its content', async () => {
    const written = await writePack(dir, manifest(), MODELS);
    const opened = await openPackFor('analyzer', dir);

    expect(opened.manifest.roles.face_detector.outputs.boxes.dims).toEqual(['k', 4]);
    expect(opened.digest).toBe(written.digest);
    expect(packVersion(opened)).toMatch(/^test-analyzer@1\.2\.3\+[0-9a-f]{12}$/);
  });

  test('leaves everything untouched, and no staging directory behind, if the same pack is written again', async () => {
    await writePack(dir, manifest(), MODELS);
    const before = await stat(dir);
    await writePack(dir, manifest(), MODELS);

    expect((await stat(dir)).ino).toBe(before.ino);
    expect(await readdir(root)).toEqual(['analyzer']);
  });

  test('gives several concurrent builders the complete pack', async () => {
    const packs = await Promise.all([1, 2, 3, 4].map(() => writePack(dir, manifest(), MODELS)));

    expect(new Set(packs.map((pack) => pack.digest)).size).toBe(1);
    expect((await readdir(dir)).sort()).toEqual(['detector.onnx', 'landmarks.onnx', 'pack.json']);
  });

  test('opens a damaged pack after it was written again', async () => {
    await writePack(dir, manifest(), MODELS);
    await writeFile(join(dir, 'detector.onnx'), 'damaged');
    await writePack(dir, manifest(), MODELS);

    expect(await readFile(join(dir, 'detector.onnx'), 'utf8')).toBe('detector');
  });

  test('refuses a changed model file, naming the file', async () => {
    await writePack(dir, manifest(), MODELS);
    await writeFile(join(dir, 'detector.onnx'), 'tampered');

    await expect(openPack(dir)).rejects.toMatchObject({
      name: 'PackError',
      reason: 'digest_mismatch',
      message: expect.stringContaining('detector.onnx (face_detector)') as string,
    });
  });

  test('refuses a missing model file, naming the file', async () => {
    await writePack(dir, manifest(), MODELS);
    await rm(join(dir, 'landmarks.onnx'));

    await expect(openPack(dir)).rejects.toMatchObject({
      reason: 'file_missing',
      message: expect.stringContaining('landmarks.onnx') as string,
    });
  });

  test('verifies external weight files like the model', async () => {
    const value = manifest();
    value.roles.face_detector.externalData = [modelFile('weights.data', Buffer.from('weights'))];
    await writePack(dir, value, { ...MODELS, 'weights.data': Buffer.from('weights') });
    await writeFile(join(dir, 'weights.data'), 'tampered');

    await expect(openPack(dir)).rejects.toMatchObject({ reason: 'digest_mismatch' });
  });

  test('distinguishes a missing directory from a broken manifest', async () => {
    await expect(openPack(join(root, 'nowhere'))).rejects.toMatchObject({ reason: 'pack_missing' });

    await writePack(dir, manifest(), MODELS);
    await writeFile(join(dir, 'pack.json'), '{');
    await expect(openPack(dir)).rejects.toMatchObject({ reason: 'manifest_invalid' });
  });

  test('refuses an invalid manifest with the path of the offending field', async () => {
    await writePack(dir, manifest(), MODELS);
    const text = await readFile(join(dir, 'pack.json'), 'utf8');
    await writeFile(join(dir, 'pack.json'), text.replace('"detector.onnx"', '"../detector.onnx"'));

    await expect(openPack(dir)).rejects.toMatchObject({
      reason: 'manifest_invalid',
      message: expect.stringContaining('roles.face_detector.file') as string,
    });
  });

  test('refuses a pack for another engine', async () => {
    await writePack(dir, manifest(), MODELS);
    await expect(openPackFor('musetalk', dir)).rejects.toMatchObject({ reason: 'manifest_invalid' });
  });

  test('refuses a pack that is opened again if another one is in its place', async () => {
    const { digest } = await writePack(dir, manifest(), MODELS);
    await expect(readPackAgain('analyzer', { dir, digest })).resolves.toMatchObject({ digest });

    await writePack(dir, { ...manifest(), version: '2.0.0' }, MODELS);
    await expect(readPackAgain('analyzer', { dir, digest })).rejects.toMatchObject({
      reason: 'pack_replaced',
    });
  });

  const shared = Buffer.from('weights');
  function sharingManifest(): Manifest {
    const value = manifest();
    value.roles.face_detector.externalData = [modelFile('weights.data', shared)];
    value.roles.landmarks68.externalData = [modelFile('weights.data', shared)];
    return value;
  }

  test('counts weights that two graphs share once on the disk, and twice in memory', async () => {
    const pack = await writePack(dir, sharingManifest(), { ...MODELS, 'weights.data': shared });
    const graphs = MODELS['detector.onnx'].length + MODELS['landmarks.onnx'].length;
    const { size } = await stat(join(dir, 'pack.json'));
    expect(await packSize(pack)).toBe(size + graphs + shared.length);
    expect(await weightsSize(pack)).toBe(graphs + 2 * shared.length);
  });

  test('verifies the files of the requested roles', async () => {
    await writePack(dir, sharingManifest(), { ...MODELS, 'weights.data': shared });
    await writeFile(join(dir, 'landmarks.onnx'), 'tampered');
    const pack = await readPack(dir);

    await expect(verifyPackFiles(pack, { roles: ['face_detector'] })).resolves.toBeUndefined();
    await expect(verifyPackFiles(pack)).rejects.toMatchObject({ reason: 'digest_mismatch' });
  });

  test('does not publish a pack if a named file is missing from what was given', async () => {
    await expect(
      writePack(dir, manifest(), { 'detector.onnx': MODELS['detector.onnx'] }),
    ).rejects.toMatchObject({
      reason: 'file_missing',
    });
    expect(await readdir(root)).toEqual([]);
  });

  describe('a copy', () => {
    let copy: string;
    beforeEach(() => {
      copy = join(root, 'elsewhere', 'copy');
    });

    test('is the same pack, without other files of its directory', async () => {
      const pack = await writePack(dir, manifest(), MODELS);
      await writeFile(join(dir, 'notes.txt'), 'not part of it');
      await copyPack(pack, copy);

      expect((await openPack(copy)).digest).toBe(pack.digest);
      expect((await readdir(copy)).sort()).toEqual(['detector.onnx', 'landmarks.onnx', 'pack.json']);
      expect(await packSize(await openPack(copy))).toBe(await packSize(pack));
    });

    test('replaces another pack, and leaves nothing of it', async () => {
      const value = manifest();
      await writePack(copy, { ...value, version: '1.0.0' }, { ...MODELS, 'old.onnx': Buffer.from('old') });
      await copyPack(await writePack(dir, value, MODELS), copy);

      expect((await openPack(copy)).manifest.version).toBe('1.2.3');
      expect(await readdir(copy)).not.toContain('old.onnx');
      expect(await readdir(join(root, 'elsewhere'))).toEqual(['copy']);
    });

    test('is refused if the pack was changed after it was opened, and what was there stays', async () => {
      const pack = await writePack(dir, manifest(), MODELS);
      await copyPack(pack, copy);
      await writePack(dir, { ...manifest(), version: '2.0.0' }, MODELS);
      await writeFile(join(copy, 'landmarks.onnx'), 'damaged');

      await expect(copyPack(pack, copy)).rejects.toMatchObject({ reason: 'digest_mismatch' });
      await writePack(dir, manifest(), MODELS);
      await writeFile(join(dir, 'detector.onnx'), 'tampered');
      await expect(copyPack(pack, copy)).rejects.toMatchObject({ reason: 'digest_mismatch' });
      expect(await readFile(join(copy, 'landmarks.onnx'), 'utf8')).toBe('damaged');
      expect(await readdir(join(root, 'elsewhere'))).toEqual(['copy']);
    });
  });
});
