import { createLogger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type PackReport } from '../inference/protocol';
import { verifyPacks } from './verify-packs';

const pack = (name: string): UsablePack => ({ dir: `/packs/${name}`, digest: name, version: name, bytes: 1 });
const found: FoundPacks = {
  analyzer: pack('analyzer'),
  engines: new Map([['musetalk', pack('official')]]),
  problems: [],
};

describe('packs that a child has tried out', () => {
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

  test('go to the jobs as those that were tried, on the provider on which they ran', async () => {
    const { musetalk, warnings } = await verified({ featuresVersion: '1' });
    expect(musetalk).toEqual({ ...pack('official'), provider: 'cpu', featuresVersion: '1' });
    expect(warnings).toEqual([]);
  });

  test('are not said to be good on a provider that was passed over', async () => {
    const { musetalk, warnings } = await verified({ passedOver: ['cuda: no kernel image'] });
    expect(musetalk?.provider).toBe('cpu');
    expect(warnings).toContainEqual([
      'execution provider not available',
      { pack_dir: '/packs/official', pack: 'official', reason: 'cuda: no kernel image' },
    ]);
  });
});
