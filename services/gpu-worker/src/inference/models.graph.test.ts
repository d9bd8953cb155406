import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { float32Tensor, type HighsyncManifest, type Pack, SessionError } from '@lipsync/engines';
import { LATENT, SIDE, writeHighsyncPack, writeLatentsyncPack } from '@lipsync/engines/test';
import { rememberDigests } from '@lipsync/model-pack';
import { type TaskPack } from '../protocol/messages';
import { inProcessSessions } from '../test/in-process-sessions';
import { packAt } from '../test/real-child';
import { inferenceSettings } from './inference-settings';
import { createModelCache, createModels, loadOnDemand } from './models';
import { type SessionHost } from './sessions/session';
import { verifyPack } from './task-runner';

describe('the files of a pack', () => {
  let folder: string;
  let good: string;
  let copies = 0;
  const sessions = inProcessSessions();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'models-'));
    good = join(folder, 'good');
    await writeLatentsyncPack(good);
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function copy(): Promise<TaskPack> {
    const dir = join(folder, `copy-${++copies}`);
    await cp(good, dir, { recursive: true });
    return packAt(dir);
  }
  const models = () => createModels({ analyzer: sessions, engines: sessions }, inferenceSettings({}));

  test('are read once to verify it', async () => {
    const read: string[] = [];
    const digestOf = rememberDigests();
    const report = await verifyPack(sessions, good, {
      cores: 1,
      digestOf: (path) => {
        read.push(basename(path));
        return digestOf(path);
      },
    });
    expect(report).toEqual({
      packDir: good,
      provider: 'cpu',
      features: { version: '2', values: expect.any(Number) as number },
    });
    expect(read.sort()).toEqual(['decoder.onnx', 'encoder.onnx', 'unet.onnx', 'whisper.onnx']);
  });

  test('are not blamed when memory is short, and the report tells the two apart', async () => {
    const failing = (reason: SessionError['reason']): SessionHost => ({
      ...sessions,
      open: () => Promise.reject(new SessionError(reason, 'not loaded')),
    });
    const reported = (reason: SessionError['reason']) => verifyPack(failing(reason), good, { cores: 1 });
    expect(await reported('out_of_memory')).toEqual({
      packDir: good,
      problem: 'not loaded',
      shortOfMemory: true,
    });
    expect(await reported('load_failed')).not.toHaveProperty('shortOfMemory');
  });

  test('do not matter to a preparation that does not load them; a render refuses them', async () => {
    const pack = await copy();
    await appendFile(join(pack.dir, 'decoder.onnx'), '!');
    const { release } = await models().encoder('latentsync', pack);
    await release();
    await expect(models().engine('latentsync', pack)).rejects.toMatchObject({ reason: 'digest_mismatch' });
  });

  test('of a different pack are never used, whatever is requested', async () => {
    const pack = { ...(await copy()), digest: 'f'.repeat(64) };
    const replaced = { name: 'PackError', reason: 'pack_replaced' };
    await expect(models().engine('latentsync', pack)).rejects.toMatchObject(replaced);
    await expect(models().encoder('latentsync', pack)).rejects.toMatchObject(replaced);
    await expect(models().analyzer(pack)).rejects.toMatchObject(replaced);
  });

  test('are no longer needed once the pack is loaded, until memory runs short', async () => {
    const pack = await copy();
    const kept = models();
    const engine = await kept.engine('latentsync', pack);
    await rm(pack.dir, { recursive: true });
    expect(await kept.engine('latentsync', pack)).toBe(engine);
    await kept.releaseEngines();
    await expect(kept.engine('latentsync', pack)).rejects.toMatchObject({ reason: 'pack_missing' });
  });

  test('run on the provider on which they were verified, whatever the pack prefers', async () => {
    const pack: TaskPack = { ...(await copy()), provider: 'cuda' };
    await expect(models().engine('latentsync', pack)).rejects.toThrow('this worker may use cuda');
  });
});

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

  const onDemand = () => loadOnDemand(host, pack, { cores: 1, probe: false });
  const encode = ({ run }: ReturnType<typeof onDemand>) =>
    run('vae_encoder', { image: float32Tensor(new Float32Array(3 * SIDE * SIDE), [1, 3, SIDE, SIDE]) });
  const decode = ({ run }: ReturnType<typeof onDemand>) => {
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

describe('the cache of models, with room for 100 bytes', () => {
  const shortage = new SessionError('out_of_memory', 'no room');
  /** A cache in which a model loads only while at most `most` others are kept. */
  function cacheThatHolds(most = Infinity) {
    const [loaded, released, kept] = [[] as string[], [] as string[], new Set<string>()];
    const cache = createModelCache<string>(100);
    const get = (key: string, bytes = 10) =>
      cache.get(key, async () => ({
        bytes,
        load: async () => {
          if (kept.size >= most) throw shortage;
          kept.add(key);
          loaded.push(key);
          const release = async (): Promise<void> => {
            released.push(key);
            kept.delete(key);
          };
          return { model: key, release };
        },
      }));
    return { cache, get, loaded, released, kept };
  }

  test.each<[string, [string, number][], string[], string[]]>([
    [
      'loads models that fit together once',
      [
        ['a', 50],
        ['b', 50],
        ['a', 50],
        ['b', 50],
      ],
      ['a', 'b'],
      [],
    ],
    [
      'evicts the least recently used model',
      [
        ['a', 50],
        ['b', 50],
        ['a', 50],
        ['c', 50],
      ],
      ['a', 'b', 'c'],
      ['b'],
    ],
    [
      'keeps a larger model alone until the next one comes',
      [
        ['small', 10],
        ['huge', 500],
        ['huge', 500],
        ['small', 10],
      ],
      ['small', 'huge', 'small'],
      ['small', 'huge'],
    ],
  ])('%s', async (_, asked, loadedThen, releasedThen) => {
    const { get, loaded, released } = cacheThatHolds();
    for (const [key, bytes] of asked) await get(key, bytes);
    expect([loaded, released]).toEqual([loadedThen, releasedThen]);
  });

  test('releases all others for one that does not fit in memory, and loads it then', async () => {
    const { get, kept } = cacheThatHolds(2);
    for (const key of ['a', 'b', 'c']) await get(key);
    expect([...kept]).toEqual(['c']);
  });

  test('does not retry when there is nothing to release', async () => {
    await expect(cacheThatHolds(0).get('a')).rejects.toBe(shortage);
  });

  test('releases nothing for one that cannot be loaded for another reason, of which no trace is left', async () => {
    const { get, kept, cache } = cacheThatHolds(2);
    await get('a');
    const load = () => Promise.reject(new Error('broken'));
    await expect(cache.get('b', async () => ({ bytes: 10, load }))).rejects.toThrow('broken');
    expect([...kept]).toEqual(['a']);
    await expect(get('b')).resolves.toBe('b');
  });

  test('loads again after everything was released', async () => {
    const { get, loaded, cache } = cacheThatHolds();
    await get('a');
    await cache.clear();
    await get('a');
    expect(loaded).toEqual(['a', 'a']);
  });
});
