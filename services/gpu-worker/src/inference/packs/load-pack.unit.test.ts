/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HighsyncManifest, type Pack } from '@lipsync/model-pack';
import { writeHighsyncPack } from '../../test/highsync-pack';
import { inProcessSessions } from '../../test/in-process-sessions';
import { loadPack, type Provider } from './load-pack';

describe('the execution provider of a pack', () => {
  let folder: string;
  let pack: Pack<HighsyncManifest>;
  const sessions = inProcessSessions();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'providers-'));
    pack = await writeHighsyncPack(join(folder, 'pack'), {});
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });

  const madeFor = (...providers: Provider[]): Pack => ({
    ...pack,
    manifest: { ...pack.manifest, providers },
  });
  async function providerOf(made: Pack, allowed?: readonly Provider[]): Promise<Provider> {
    const settings = { threads: 1, probe: false, ...(allowed && { providers: allowed }) };
    const { provider, release } = await loadPack(sessions, made, settings);
    await release();
    return provider;
  }

  // CUDA's libraries are not part of the runtime's package: without them the provider cannot be loaded anywhere.
  test('is the first that the machine has, in the order that the pack prefers', async () => {
    await expect(providerOf(madeFor('cuda', 'cpu'))).resolves.toBe('cpu');
  });

  test('is none that the worker may not use, though the pack would run on it', async () => {
    await expect(providerOf(madeFor('cuda', 'cpu'), ['cuda'])).rejects.toMatchObject({
      reason: 'load_failed',
    });
  });

  test('is not guessed where pack and worker have none in common', async () => {
    await expect(providerOf(madeFor('cuda'), ['cpu'])).rejects.toThrow(
      /made for cuda; this worker may use cpu/,
    );
  });
});
