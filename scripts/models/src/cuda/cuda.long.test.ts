import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cudaRow, cudaState, installCudaProvider, type ProviderSource } from './cuda';

/** The stand-ins of try-cuda.sh: empty libraries, and a server that offers them. Needs gcc and zip. */
const DOCKER = path.resolve(__dirname, '../../../../deploy/docker');
const ORIGINAL = path.dirname(require.resolve('onnxruntime-node/package.json'));
const { version } = JSON.parse(readFileSync(path.join(ORIGINAL, 'package.json'), 'utf8')) as {
  version: string;
};
const trial = path.resolve(__dirname, '../../dist/cuda/cuda-trial.js');

const onLinux = process.platform === 'linux' && process.arch === 'x64' ? describe : describe.skip;

onLinux('a runtime from the npm package', () => {
  let folder: string;
  let runtime: string;
  let server: ChildProcess;
  let nuget: string;
  const environment = { ...process.env };
  const at = (...names: string[]): string => path.join(folder, ...names);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cuda-test-'));
    execFileSync(path.join(DOCKER, 'stand-in-cuda.sh'), [at('made')], { stdio: 'pipe' });
    const offered = ['provider.nupkg', 'demanding.nupkg', 'provider.tgz'].map((name) => at('made', name));
    server = spawn(process.execPath, [
      ...[path.join(DOCKER, 'stand-in-nuget.mjs'), '0', 'microsoft.ml.onnxruntime.gpu.linux', version],
      ...offered,
    ]);
    if (server.stdout === null) throw new Error('it has an output');
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    nuget = `http://127.0.0.1:${/port (\d+)/.exec(String(line))?.[1]}`;
  });
  afterAll(async () => {
    server.kill();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const modules = await mkdtemp(at('modules-'));
    runtime = path.join(modules, 'node_modules', 'onnxruntime-node');
    // Without a provider that an operator of this checkout may have installed.
    const filter = (file: string): boolean => !file.includes('libonnxruntime_providers_');
    await cp(ORIGINAL, runtime, { recursive: true, filter });
    for (const name of ['onnxruntime-common', 'adm-zip'])
      await symlink(path.join(ORIGINAL, '..', name), path.join(runtime, '..', name));
    process.env = { ...environment, NUGET: `${nuget}/provider.nupkg` };
  });
  afterEach(() => {
    process.env = environment;
  });

  const install = (from?: ProviderSource): Promise<void> =>
    installCudaProvider(() => undefined, { runtime, ...(from && { from }) });
  const toolkit = (): string =>
    [
      at('made/image/usr/local/cuda-12.9/targets/x86_64-linux/lib'),
      at('made/image/usr/lib/x86_64-linux-gnu'),
    ].join(':');

  test('gets the provider of its own version, once', async () => {
    expect(await cudaState({ runtime, trial })).toMatchObject({
      provider: undefined,
      libraries: {},
      problem: expect.stringContaining('libonnxruntime_providers_shared.so: cannot open') as string,
    });
    await install();
    process.env['NUGET'] = 'http://127.0.0.1:1';
    await install();
    const { provider = '' } = await cudaState({ runtime, trial });
    expect(await readdir(path.dirname(provider))).toEqual(
      expect.arrayContaining([
        'libonnxruntime_providers_cuda.so',
        'libonnxruntime_providers_shared.so',
        'onnxruntime_binding.node',
      ]),
    );
  });

  test.each([
    [
      'another package than was pinned',
      'provider.nupkg',
      'c29tZSBvdGhlcg==',
      /SHA-512 .*, not c29tZSBvdGhlcg==/,
    ],
    ['a server without the package', 'missing.nupkg', '', /answered 404/],
  ])('is as it was after %s', async (_, name, pinned, message) => {
    const before = await readdir(runtime, { recursive: true });
    process.env['NUGET'] = `${nuget}/${name}`;
    process.env['ONNXRUNTIME_CUDA_SHA512'] = pinned;
    await expect(install()).rejects.toThrow(message);
    expect(await readdir(runtime, { recursive: true })).toEqual(before);
  });

  describe('by npm', () => {
    beforeEach(() => {
      process.env['NPM_REGISTRY'] = `${nuget}/provider.tgz`;
    });
    /** The only version that the registry has a provider for. */
    const becomeFitting = async (): Promise<void> => {
      const file = path.join(runtime, 'package.json');
      const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...manifest, version: '1.29.0' }));
    };

    test('gets it where the package has the hash that it must have', async () => {
      await becomeFitting();
      await expect(install('npm')).rejects.toThrow(/SHA-512 .*, not FopIhNE/);
      expect((await cudaState({ runtime, trial })).provider).toBeUndefined();
      const bytes = await readFile(at('made', 'provider.tgz'));
      process.env['ONNXRUNTIME_CUDA_SHA512'] = createHash('sha512').update(bytes).digest('base64');
      await install('npm');
      const { provider = '', problem } = await cudaState({ runtime, trial });
      expect(await readdir(path.dirname(provider))).toContain('libonnxruntime_providers_shared.so');
      expect(problem).not.toContain('libonnxruntime_providers_shared.so');
    });

    test('refuses any other runtime, and says how to get the one that fits', async () => {
      await expect(install('npm')).rejects.toThrow(
        `onnxruntime-node ${version} is installed: add "onnxruntime-node: 1.29.0" to overrides`,
      );
    });
  });

  test('names every library that is not found, and the first one that the provider fails for', async () => {
    await install();
    process.env['LD_LIBRARY_PATH'] = '';
    const { libraries, problem } = await cudaState({ runtime, trial });
    expect(libraries).toMatchObject({ 'libcublasLt.so.12': 'not found', 'libcudart.so.12': 'not found' });
    expect(problem).toMatch(/^libcublasLt\.so\.12: cannot open shared object file/);
  });

  test('says where CUDA was found, and that the driver is missing', async () => {
    await install();
    process.env['LD_LIBRARY_PATH'] = toolkit();
    const row = cudaRow(await cudaState({ runtime, trial }));
    expect(row).toMatchObject({
      'libcudart.so.12': expect.stringContaining(at('made')) as string,
      'libcuda.so.1': 'not found',
      state: expect.stringMatching(/^not usable: libcuda\.so\.1: cannot open/) as string,
    });
  });

  test('loads a provider that finds everything, and says what becomes of it', async () => {
    await install();
    process.env['LD_LIBRARY_PATH'] = `${toolkit()}:${at('made/elsewhere')}`;
    const { libraries, problem } = await cudaState({ runtime, trial });
    expect(Object.values(libraries)).not.toContain('not found');
    // The stand-in is an empty library.
    expect(problem).toContain('undefined symbol: GetProvider');
  });
});
