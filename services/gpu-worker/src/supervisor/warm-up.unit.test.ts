import { type Engine } from '@lipsync/contract';
import { type Provider } from '@lipsync/model-pack';
import { createLogger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type WarmTask } from '../protocol/messages';
import { warmUp } from './warm-up';

const GB = 1e9;
const pack = (name: string, provider: Provider, bytes = 0): UsablePack => ({
  ...{ dir: `/packs/${name}`, digest: name, version: name, bytes, provider },
});

describe('what a child loads before its first job', () => {
  /** Engines by slot. */
  async function warmed(
    engines: Partial<Record<Engine, UsablePack>>,
    { slots = 1, fails = false } = {},
  ): Promise<string[][]> {
    const tasks: string[][] = [];
    const warm = (task: WarmTask) => {
      expect(task.analyzer.digest).toBe('analyzer');
      tasks.push(task.engines.map(({ pack: { digest } }) => digest));
      return fails ? Promise.reject(new Error('no memory')) : Promise.resolve({ type: 'warm' as const });
    };
    const packs: FoundPacks = {
      analyzer: pack('analyzer', 'cpu'),
      engines: new Map(Object.entries(engines) as [Engine, UsablePack][]), // these are the keys of a record
      problems: [],
    };
    const hosts = Array.from({ length: slots }, () => ({ warm }));
    await warmUp(hosts, packs, GB, createLogger({ service: 'test', level: 'silent' }));
    return tasks;
  }

  test('is the only engine, however large, in every slot', async () => {
    const only = { highsync: pack('large', 'cuda', 9 * GB) };
    expect(await warmed(only, { slots: 2 })).toEqual([['large'], ['large']]);
  });

  test('is all engines on a GPU that fit in the cache together', async () => {
    const fitting = {
      musetalk: pack('a', 'cuda', GB / 3),
      latentsync: pack('b', 'webgpu', GB / 3),
      highsync: pack('c', 'cpu', GB / 3),
    };
    expect(await warmed(fitting)).toEqual([['a', 'b']]);
  });

  test('is nothing where one engine would evict the other', async () => {
    expect(await warmed({ musetalk: pack('a', 'cuda', GB), latentsync: pack('b', 'cuda', GB) })).toEqual([]);
  });

  test('is nothing on a CPU, where loading weights is cheap', async () => {
    expect(await warmed({ musetalk: pack('a', 'cpu') })).toEqual([]);
  });

  test('is nothing that the start depends on', async () => {
    expect(await warmed({ musetalk: pack('a', 'cuda') }, { fails: true })).toEqual([['a']]);
  });
});
