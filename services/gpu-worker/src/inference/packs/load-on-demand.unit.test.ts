/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { inProcessSessions } from '../../test/in-process-sessions';
import { type SessionHost } from '../sessions/session';
import { loadOnDemand, type PackOnDemand } from './load-on-demand';
import { type HighsyncManifest, type Pack, float32Tensor } from '@lipsync/engines';
import { LATENT, SIDE, writeHighsyncPack } from '@lipsync/engines/test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

describe('a pack that is loaded on demand', () => {
  let folder: string;
  let pack: Pack<HighsyncManifest>;
  let loaded: string[];
  let held: number;
  let ended: number;
  let onRun: () => void;
  const sessions = inProcessSessions();
  /** Reports what was loaded, what of it is still held, and how many runs have ended. */
  const host: SessionHost = {
    ...sessions,
    async open(file, options) {
      const session = await sessions.open(file, options);
      loaded.push(basename(file));
      held++;
      return {
        ...session,
        async run(feeds, targets) {
          onRun();
          const result = await session.run(feeds, targets);
          ended++;
          return result;
        },
        async release() {
          held--;
          await session.release();
        },
      };
    },
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'on-demand-'));
    pack = await writeHighsyncPack(join(folder, 'pack'));
  });
  beforeEach(() => {
    [loaded, held, ended] = [[], 0, 0];
    onRun = () => undefined;
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });

  const onDemand = (): PackOnDemand => loadOnDemand(host, pack, { cores: 1, probe: false });
  const encode = ({ run }: PackOnDemand) =>
    run('vae_encoder', { image: float32Tensor(new Float32Array(3 * SIDE * SIDE), [1, 3, SIDE, SIDE]) });
  const decode = ({ run }: PackOnDemand) => {
    const { channels, height, width } = LATENT;
    const values = new Float32Array(channels * height * width);
    return run('vae_decoder', { latent: float32Tensor(values, [1, channels, height, width]) });
  };

  test('loads a graph once, on its first run, and releases it', async () => {
    const some = onDemand();
    expect(loaded).toEqual([]);
    await Promise.all([encode(some), encode(some)]);
    expect(loaded).toEqual(['encoder.onnx']);
    await some.release();
    expect(held).toBe(0);
  });

  test('lets no work run or load anything after the release', async () => {
    const some = onDemand();
    const begun = new Promise<void>((resolve) => (onRun = resolve));
    const chain = encode(some)
      .then(() => encode(some))
      .then(() => decode(some));
    void Promise.allSettled([chain]);
    await begun;
    await some.release();
    expect([held, ended]).toEqual([0, 1]);
    await expect(chain).rejects.toMatchObject({ reason: 'closed' });
    expect([loaded, held, ended]).toEqual([['encoder.onnx'], 0, 1]);
  });

  test('neither runs nor holds a graph that was still loading at the release', async () => {
    const some = onDemand();
    const running = encode(some);
    const releasing = some.release();
    await expect(running).rejects.toMatchObject({ reason: 'closed' });
    await releasing;
    expect([loaded.length, held, ended]).toEqual([1, 0, 0]);
  });
});
