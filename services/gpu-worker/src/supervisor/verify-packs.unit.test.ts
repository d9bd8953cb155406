import { type Engine } from '@lipsync/contract';
import { createLogger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type PackReport, type WarmTask } from '../protocol/messages';
import { SCRIPTED_PACKS, scriptedPack } from '../test/scripted-host';
import { verifyPacks, warmUp } from './verify-packs';

const official = scriptedPack('official');
const found: FoundPacks = {
  analyzer: SCRIPTED_PACKS.analyzer,
  engines: new Map([['musetalk', official]]),
  problems: [],
};
const silent = createLogger({ service: 'test', level: 'silent' });

/** Has a child verify the packs that were found, which reports this of each attempt at the engine's pack. */
async function verified(
  reportOf: (attempt: number) => Partial<PackReport> = () => ({}),
  { packs = found, wanted = ['musetalk'] }: { packs?: FoundPacks; wanted?: readonly Engine[] } = {},
) {
  const tried: string[] = [];
  const warnings: [string, object | undefined][] = [];
  let waitedMs = 0;
  const warn = (message: string, fields?: object) => void warnings.push([message, fields]);
  const verify = async ({ packDirs: [packDir = ''] }: { packDirs: readonly string[] }) => {
    tried.push(packDir);
    const attempt = tried.filter((other) => other === packDir).length;
    const report = packDir === official.dir ? reportOf(attempt) : {};
    return { type: 'verify' as const, packs: [{ packDir, provider: 'cpu' as const, ...report }] };
  };
  const pause = async (ms: number) => void (waitedMs += ms);
  const usable = await verifyPacks(packs, wanted, { verify }, { ...silent, warn }, pause);
  return { usable, musetalk: usable.engines.get('musetalk'), tried, warnings, waitedMs };
}

describe('packs that a child has verified', () => {
  test('are given to jobs exactly as verified, on the provider on which they ran', async () => {
    const features = { version: '1', values: 8 };
    const { musetalk, warnings } = await verified(() => ({ features }));
    expect(musetalk).toEqual({ ...official, provider: 'cpu', features });
    expect(warnings).toEqual([]);
  });

  test('are not reported as usable on a provider that was passed over', async () => {
    const { musetalk, warnings } = await verified(() => ({ passedOver: ['cuda: no kernel image'] }));
    expect(musetalk?.provider).toBe('cpu');
    expect(warnings).toContainEqual([
      'execution provider not available',
      { pack_dir: official.dir, pack: official.version, reason: 'cuda: no kernel image' },
    ]);
  });

  test('leave out engines without one, which the log says of those that are wanted', async () => {
    const { usable, warnings, tried } = await verified(undefined, { wanted: ['highsync'] });
    expect([...usable.engines]).toEqual([]);
    expect(usable.analyzer).toBeDefined();
    expect(tried).toEqual([SCRIPTED_PACKS.analyzer.dir]);
    expect(warnings).toEqual([['engine unavailable: no usable model pack', { engine: 'highsync' }]]);
  });

  test('serve nothing without the face analyzer', async () => {
    const { usable } = await verified(undefined, { packs: { engines: found.engines, problems: [] } });
    expect(usable.analyzer).toBeUndefined();
    expect(usable.engines.size).toBe(0);
  });
});

describe('a pack that does not fit in memory', () => {
  const problem = 'Failed to allocate memory';
  const fitsFrom = (attempt: number) => (now: number) =>
    now < attempt ? { problem, shortOfMemory: true as const } : {};

  test('is retried some seconds later; packs that fit are not', async () => {
    const { musetalk, tried, waitedMs } = await verified(fitsFrom(3));
    expect(musetalk).toBeDefined();
    expect(tried).toEqual([SCRIPTED_PACKS.analyzer.dir, ...Array<string>(3).fill(official.dir)]);
    expect(waitedMs).toBe(20_000);
  });

  test('is refused for that reason after half a minute', async () => {
    const { musetalk, warnings, waitedMs } = await verified(fitsFrom(Infinity));
    expect([musetalk, waitedMs]).toEqual([undefined, 30_000]);
    expect(warnings.filter(([message]) => message.includes('trying again'))).toHaveLength(3);
    expect(warnings).toContainEqual([
      'model pack refused',
      expect.objectContaining({ problem: 'no memory for it in 4 attempts: Failed to allocate memory' }),
    ]);
  });
});

const GB = 1e9;

describe('what a child loads before its first job', () => {
  const packOn = (provider: NonNullable<UsablePack['provider']>, name: string, bytes = 0): UsablePack => ({
    ...scriptedPack(name),
    bytes,
    provider,
  });
  /** Engines by slot. */
  async function warmed(
    engines: [Engine, UsablePack][],
    { slots = 1, fails = false } = {},
  ): Promise<string[][]> {
    const tasks: string[][] = [];
    const warm = (task: WarmTask) => {
      expect(task.analyzer.digest).toBe('analyzer');
      tasks.push(task.engines.map(({ pack: { digest } }) => digest));
      return fails ? Promise.reject(new Error('no memory')) : Promise.resolve({ type: 'warm' as const });
    };
    const hosts = Array.from({ length: slots }, () => ({ warm }));
    await warmUp(hosts, { ...found, engines: new Map(engines) }, GB, silent);
    return tasks;
  }

  test('is the only engine, however large, in every slot', async () => {
    const large = packOn('cuda', 'large', 9 * GB);
    expect(await warmed([['highsync', large]], { slots: 2 })).toEqual([['large'], ['large']]);
  });

  test('is all engines on a GPU that fit in the cache together', async () => {
    const fitting: [Engine, UsablePack][] = [
      ['musetalk', packOn('cuda', 'a', GB / 3)],
      ['latentsync', packOn('webgpu', 'b', GB / 3)],
      ['highsync', packOn('cpu', 'c', GB / 3)],
    ];
    expect(await warmed(fitting)).toEqual([['a', 'b']]);
  });

  test('is nothing where one engine would evict the other, nor on a CPU, where loading weights is cheap', async () => {
    const evicting: [Engine, UsablePack][] = [
      ['musetalk', packOn('cuda', 'a', GB)],
      ['latentsync', packOn('cuda', 'b', GB)],
    ];
    expect(await warmed(evicting)).toEqual([]);
    expect(await warmed([['musetalk', packOn('cpu', 'a')]])).toEqual([]);
  });

  test('is nothing that the start depends on', async () => {
    expect(await warmed([['musetalk', packOn('cuda', 'a')]], { fails: true })).toEqual([['a']]);
  });
});
