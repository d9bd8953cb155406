import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HighsyncManifest, type Pack, SessionError } from '@lipsync/engines';
import { writeHighsyncPack } from '@lipsync/engines/test';
import { packFiles, type Provider } from '@lipsync/model-pack';
import { inProcessSessions } from '../../test/in-process-sessions';
import { type SessionHost } from '../sessions/session';
import { graphThreads, loadPack } from './load-pack';

describe('the execution provider of a pack', () => {
  let folder: string;
  let pack: Pack<HighsyncManifest>;
  const sessions = inProcessSessions();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'providers-'));
    pack = await writeHighsyncPack(join(folder, 'pack'));
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });

  const madeFor = (...providers: Provider[]): Pack => ({
    ...pack,
    manifest: { ...pack.manifest, providers },
  });
  /** Adds a probe of one graph, which any result passes. */
  const probed = ({ manifest, ...rest }: Pack): Pack => {
    if (manifest.engine !== 'highsync') throw new Error('the fixture is a highsync pack');
    const probe = { dims: { n: 1 }, fill: {}, means: {}, tolerance: 1 };
    const vae_decoder = { ...manifest.roles.vae_decoder, probe };
    return { ...rest, manifest: { ...manifest, roles: { ...manifest.roles, vae_decoder } } };
  };
  type Spoiled = Partial<Record<Provider, 'load_failed' | 'run_failed' | 'out_of_memory'>>;
  /** Runs every graph in this process, whatever provider is requested, with the failures that `spoil` asks for. */
  const machine = (spoil: Spoiled): SessionHost => ({
    ...sessions,
    open: async (file, { providers, ...options } = {}) => {
      const reason = providers?.[0] && spoil[providers[0]];
      const fail = () => Promise.reject(new SessionError(reason ?? 'closed', 'no kernel image'));
      if (reason === 'load_failed') return fail();
      const session = await sessions.open(file, options);
      return reason === undefined ? session : { ...session, run: fail };
    },
  });
  async function providerOf(made: Pack, allowed?: readonly Provider[]): Promise<Provider> {
    const settings = { cores: 1, probe: false, ...(allowed && { providers: allowed }) };
    const { provider, release } = await loadPack(machine({ cuda: 'load_failed' }), made, settings);
    await release();
    return provider;
  }

  test('is the first one that the machine has, in the pack’s order of preference', async () => {
    await expect(providerOf(madeFor('cuda', 'cpu'))).resolves.toBe('cpu');
  });

  test('is never one that the worker may not use, even if the pack would run on it', async () => {
    await expect(providerOf(madeFor('cuda', 'cpu'), ['cuda'])).rejects.toMatchObject({
      reason: 'load_failed',
    });
  });

  test('is one on which the probes run, and the reason for passing over the earlier one is reported', async () => {
    const made = probed(madeFor('cuda', 'webgpu'));
    const host = machine({ cuda: 'run_failed' });
    const { provider, passedOver, probes, release } = await loadPack(host, made, { cores: 1, probe: true });
    await release();
    expect([provider, passedOver]).toEqual(['webgpu', ['cuda: no kernel image']]);
    expect(probes).toEqual([{ role: 'vae_decoder', deviation: 0, tolerance: 1 }]);
  });

  test('does not change because memory is short at the moment', async () => {
    const made = probed(madeFor('cuda', 'cpu'));
    const loading = loadPack(machine({ cuda: 'out_of_memory' }), made, { cores: 1, probe: true });
    await expect(loading).rejects.toMatchObject({ reason: 'out_of_memory' });
  });

  test('is not used at all when a file does not match the manifest', async () => {
    const digestOf = (): Promise<string> => Promise.resolve('0'.repeat(64));
    const loading = loadPack(sessions, pack, { cores: 1, probe: false, digestOf });
    await expect(loading).rejects.toMatchObject({ name: 'PackError', reason: 'digest_mismatch' });
  });

  test('is not guessed when pack and worker have none in common', async () => {
    await expect(providerOf(madeFor('cuda'), ['cpu'])).rejects.toThrow(
      /made for cuda; this worker may use cpu/,
    );
  });
});

test.each<[string, number, Provider, number, number]>([
  ['half of the cores: the codecs need the others', 0, 'cpu', 16, 8],
  ['all of them where the codecs wait for heavy networks', 3.8e9, 'cpu', 16, 16],
  ['half of them where a GPU computes, however heavy the networks are', 3.8e9, 'cuda', 16, 8],
  ['at least one', 0, 'cpu', 1, 1],
])('a graph has as many threads as %s', async (_, bytes, provider, cores, threads) => {
  const folder = await mkdtemp(join(tmpdir(), 'graph-threads-'));
  try {
    const pack = await writeHighsyncPack(folder);
    const [file = ''] = packFiles(pack.manifest);
    // Enlarges the file with a hole, which takes no disk space.
    if (bytes > 0) await truncate(join(pack.dir, file), bytes);
    expect(await graphThreads(pack, provider, cores)).toBe(threads);
  } finally {
    await rm(folder, { recursive: true });
  }
});
