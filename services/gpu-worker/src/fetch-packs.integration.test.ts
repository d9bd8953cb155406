import { fork } from 'node:child_process';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { openPack, type Pack } from '@lipsync/engines';
import { createStorage, type Storage } from '@lipsync/storage';
import { type S3Server, startS3Server, testFolder } from '@lipsync/testkit';
import { keepTail } from './host/inference-host';

const COMPILED = join(__dirname, '../dist/fetch-packs.js');

describe('fetching model packs from the store', () => {
  let s3: S3Server;
  let storage: Storage;
  const at = testFolder();
  let packs: readonly Pack[];
  let packsDir: string;

  beforeAll(async () => {
    s3 = await startS3Server();
    storage = createStorage({ ...s3, forcePathStyle: true });
    packs = await buildBuiltinPacks(at('source'));
  });
  beforeEach(async () => {
    packsDir = await mkdtemp(at('packs-'));
    for await (const key of storage.list('')) await storage.delete([key]);
    for (const { dir } of packs) await upload(dir);
  });
  afterEach(() => s3.faults.clear());
  afterAll(async () => {
    storage.close();
    await s3.close();
  });

  async function upload(dir: string): Promise<void> {
    const name = basename(dir);
    for (const file of await readdir(dir)) {
      const contentType = 'application/octet-stream';
      await storage.put(`models/v1/${name}/${file}`, { file: join(dir, file) }, { contentType });
    }
  }

  /** Runs the compiled program as an init container does; its output is its log lines. */
  async function fetchPacks(env: Record<string, string> = {}): Promise<{ code: number | null; log: string }> {
    const program = fork(COMPILED, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'] ?? '',
        S3_ENDPOINT: s3.endpoint,
        S3_BUCKET: s3.bucket,
        S3_ACCESS_KEY_ID: s3.accessKeyId,
        S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
        MODEL_PACKS_DIR: packsDir,
        MODEL_PACKS_S3_PREFIX: 'models/v1',
        ...env,
      },
    });
    const tails = [program.stdout, program.stderr].map((stream) => keepTail(stream ?? Readable.from([])));
    const code = await new Promise<number | null>((resolve) => program.once('close', resolve));
    return { code, log: tails.map((tail) => tail()).join('\n') };
  }

  const digests = async (): Promise<Record<string, string>> => {
    const names = (await readdir(packsDir)).sort();
    const opened = names.map(async (name) => [name, (await openPack(join(packsDir, name))).digest] as const);
    return Object.fromEntries(await Promise.all(opened));
  };
  const sourceDigests = (...names: string[]): Record<string, string> =>
    Object.fromEntries(
      packs
        .map(({ dir, digest }) => [basename(dir), digest] as const)
        .filter(([name]) => names.includes(name)),
    );
  const ENGINES = ['builtin-highsync', 'builtin-latentsync', 'builtin-musetalk'];

  test('fetches every pack, complete and verified; a second run fetches nothing', async () => {
    expect(await fetchPacks()).toMatchObject({ code: 0 });
    expect(await digests()).toEqual(sourceDigests('analyzer', ...ENGINES));

    const manifest = join(packsDir, 'analyzer', 'pack.json');
    const before = (await stat(manifest)).ino;
    const { code, log } = await fetchPacks();
    expect(code).toBe(0);
    expect(log).toContain('model pack is there already');
    expect(log).not.toContain('model pack fetched');
    expect((await stat(manifest)).ino).toBe(before);
  });

  test('fetches only the packs that the worker serves, from a store that fails now and then, and repairs a damaged one', async () => {
    // Of every object the first request, in whatever order they come: more in a row might be more than are tried again.
    const asked = new Set<string>();
    s3.faults.set({
      slowDownRate: 0.5,
      resetRate: 0.5,
      applies: ({ key }) => asked.size < asked.add(key).size,
    });
    expect(await fetchPacks({ ENGINES: 'musetalk' })).toMatchObject({ code: 0 });
    expect(await digests()).toEqual(sourceDigests('analyzer', 'builtin-musetalk'));
    const dir = join(packsDir, 'builtin-musetalk');
    const [model = ''] = (await readdir(dir)).filter((file) => file !== 'pack.json');
    await writeFile(join(dir, model), 'damaged');
    expect(await fetchPacks({ ENGINES: 'musetalk' })).toMatchObject({ code: 0 });
    expect(await digests()).toEqual(sourceDigests('analyzer', 'builtin-musetalk'));
  });

  test('fetches the named packs, whatever engine they are for, and reports the one that is missing', async () => {
    const named = { ENGINES: 'musetalk', MODEL_PACKS: 'builtin-highsync,other' };
    const { code, log } = await fetchPacks(named);
    expect(code).toBe(1);
    expect(log).toContain('models/v1/other: pack.json is not in the store');
    expect(await digests()).toEqual(sourceDigests('builtin-highsync'));
  });

  test('refuses a pack with a file that is missing or does not match its manifest, names it, and keeps the good packs', async () => {
    const aFileOf = async (name: string): Promise<string> => {
      const manifest = await readFile(at('source', name, 'pack.json'), 'utf8');
      return /"file":\s*"([^"]+)"/.exec(manifest)?.[1] ?? '';
    };
    const [missing, wrong] = [await aFileOf('analyzer'), await aFileOf('builtin-musetalk')];
    await storage.delete([`models/v1/analyzer/${missing}`]);
    await storage.put(`models/v1/builtin-musetalk/${wrong}`, Buffer.from('other'), { contentType: 'a/b' });
    const { code, log } = await fetchPacks();
    expect(code).toBe(1);
    expect(log).toContain(`models/v1/analyzer: ${missing} is not in the store`);
    expect(log).toContain('digest_mismatch');
    expect(await digests()).toEqual(sourceDigests('builtin-highsync', 'builtin-latentsync'));
  });

  test('reports that there is no pack at all, and which setting is missing', async () => {
    const nothing = await fetchPacks({ MODEL_PACKS_S3_PREFIX: 'elsewhere' });
    expect(nothing.code).toBe(1);
    expect(nothing.log).toContain('elsewhere: the store holds no pack here');
    const unset = await fetchPacks({ MODEL_PACKS_S3_PREFIX: '' });
    expect(unset).toMatchObject({ code: 1 });
    expect(unset.log).toContain('MODEL_PACKS_S3_PREFIX: is missing');
  });
});
