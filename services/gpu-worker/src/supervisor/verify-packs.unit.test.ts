import { type Engine } from '@lipsync/contract';
import { type Provider } from '@lipsync/model-pack';
import { createLogger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type PackReport, type WarmTask } from '../protocol/messages';
import { verifyPacks, warmUp } from './verify-packs';

const pack = (name: string): UsablePack => ({ dir: `/packs/${name}`, digest: name, version: name, bytes: 1 });
const found: FoundPacks = {
  analyzer: pack('analyzer'),
  engines: new Map([['musetalk', pack('official')]]),
  problems: [],
};

describe('packs that a child has verified', () => {
  async function verified(report: Partial<PackReport>) {
    const warnings: [string, object | undefined][] = [];
    const silent = createLogger({ service: 'test', level: 'silent' });
    const logger = {
      ...silent,
      warn: (message: string, fields?: object) => void warnings.push([message, fields]),
    };
    const verify = ({ packDirs: [packDir = ''] }: { packDirs: readonly string[] }) =>
      Promise.resolve({ type: 'verify' as const, packs: [{ packDir, provider: 'cpu' as const, ...report }] });
    const packs = await verifyPacks(found, ['musetalk'], { verify }, logger);
    return { musetalk: packs.engines.get('musetalk'), warnings };
  }

  test('are given to jobs exactly as verified, on the provider on which they ran', async () => {
    const { musetalk, warnings } = await verified({ features: { version: '1', values: 8 } });
    expect(musetalk).toEqual({ ...pack('official'), provider: 'cpu', features: { version: '1', values: 8 } });
    expect(warnings).toEqual([]);
  });

  test('are not reported as usable on a provider that was passed over', async () => {
    const { musetalk, warnings } = await verified({ passedOver: ['cuda: no kernel image'] });
    expect(musetalk?.provider).toBe('cpu');
    expect(warnings).toContainEqual([
      'execution provider not available',
      { pack_dir: '/packs/official', pack: 'official', reason: 'cuda: no kernel image' },
    ]);
  });
});

describe('a pack that does not fit in memory', () => {
  /** The engine's pack fits from this attempt on; time is the sum of the pauses. */
  async function startedWhere(fitsFrom: number) {
    const tried: string[] = [];
    const warnings: (readonly [string, unknown])[] = [];
    let now = 0;
    const problem = 'Failed to allocate memory';
    const logger = {
      ...createLogger({ service: 'test', level: 'silent' }),
      warn: (message: string, fields?: object) =>
        void warnings.push([message, fields && 'problem' in fields && fields.problem]),
    };
    const verify = async ({ packDirs: [packDir = ''] }: { packDirs: readonly string[] }) => {
      tried.push(packDir);
      const attempt = tried.filter((other) => other === packDir).length;
      const short = packDir === '/packs/official' && attempt < fitsFrom;
      const report: PackReport = { packDir, ...(short && { problem, shortOfMemory: true }) };
      return { type: 'verify' as const, packs: [report] };
    };
    const pause = async (ms: number) => void (now += ms);
    const packs = await verifyPacks(found, ['musetalk'], { verify }, logger, pause);
    return { isServed: packs.engines.has('musetalk'), tried, warnings, waitedMs: now };
  }

  test('is retried some seconds later; packs that fit are not', async () => {
    const { isServed, tried, waitedMs } = await startedWhere(3);
    expect(isServed).toBe(true);
    expect(tried).toEqual(['/packs/analyzer', '/packs/official', '/packs/official', '/packs/official']);
    expect(waitedMs).toBe(20_000);
  });

  test('is refused for that reason after half a minute', async () => {
    const { isServed, warnings, waitedMs } = await startedWhere(Infinity);
    expect([isServed, waitedMs]).toEqual([false, 30_000]);
    expect(warnings.filter(([message]) => message.includes('trying again'))).toHaveLength(3);
    expect(warnings).toContainEqual([
      'model pack refused',
      'no memory for it in 4 attempts: Failed to allocate memory',
    ]);
  });

  test('does not delay a start that has none', async () => {
    expect(await startedWhere(1)).toEqual({
      ...{ isServed: true, warnings: [], waitedMs: 0 },
      tried: ['/packs/analyzer', '/packs/official'],
    });
  });
});

const GB = 1e9;
const packOn = (provider: Provider, name: string, bytes = 0): UsablePack => ({
  ...pack(name),
  bytes,
  provider,
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
      analyzer: packOn('cpu', 'analyzer'),
      engines: new Map(Object.entries(engines) as [Engine, UsablePack][]), // these are the keys of a record
      problems: [],
    };
    const hosts = Array.from({ length: slots }, () => ({ warm }));
    await warmUp(hosts, packs, GB, createLogger({ service: 'test', level: 'silent' }));
    return tasks;
  }

  test('is the only engine, however large, in every slot', async () => {
    const only = { highsync: packOn('cuda', 'large', 9 * GB) };
    expect(await warmed(only, { slots: 2 })).toEqual([['large'], ['large']]);
  });

  test('is all engines on a GPU that fit in the cache together', async () => {
    const fitting = {
      musetalk: packOn('cuda', 'a', GB / 3),
      latentsync: packOn('webgpu', 'b', GB / 3),
      highsync: packOn('cpu', 'c', GB / 3),
    };
    expect(await warmed(fitting)).toEqual([['a', 'b']]);
  });

  test('is nothing where one engine would evict the other', async () => {
    expect(await warmed({ musetalk: packOn('cuda', 'a', GB), latentsync: packOn('cuda', 'b', GB) })).toEqual(
      [],
    );
  });

  test('is nothing on a CPU, where loading weights is cheap', async () => {
    expect(await warmed({ musetalk: packOn('cpu', 'a') })).toEqual([]);
  });

  test('is nothing that the start depends on', async () => {
    expect(await warmed({ musetalk: packOn('cuda', 'a') }, { fails: true })).toEqual([['a']]);
  });
});
