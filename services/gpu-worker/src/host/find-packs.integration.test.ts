import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES } from '@lipsync/contract';
import { buildBuiltinPacks, MANIFEST_FILE } from '@lipsync/model-pack';
import { createLogger, type Logger } from '@lipsync/runtime';
import { verifyPacks } from '../supervisor/verify-packs';
import { COMPILED_CHILD } from '../test/compiled';
import { findPacks } from './find-packs';
import { createInferenceHost, type InferenceHost } from './inference-host';

describe('packs at start', () => {
  let root: string;
  let good: string;
  let dir: string;
  let host: InferenceHost;
  let copies = 0;
  const silent = createLogger({ service: 'test', level: 'silent' });

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'packs-'));
    good = join(root, 'good');
    await buildBuiltinPacks(good);
    host = createInferenceHost({ entry: COMPILED_CHILD });
  });
  beforeEach(async () => {
    dir = join(root, `copy-${++copies}`);
    await cp(good, dir, { recursive: true });
  });
  afterAll(async () => {
    host.kill();
    await rm(root, { recursive: true, force: true });
  });

  const usable = async (logger: Logger = silent) => verifyPacks(await findPacks(dir), ENGINES, host, logger);
  const manifestOf = (pack: string): string => join(dir, pack, MANIFEST_FILE);
  const rewriteManifest = async (pack: string, from: string | RegExp, to: string): Promise<void> => {
    const before = await readFile(manifestOf(pack), 'utf8');
    const after = before.replace(from, to);
    if (after === before) throw new Error('nothing was changed');
    await writeFile(manifestOf(pack), after);
  };

  test('the built-in packs pass: every graph loads, declares what its manifest says and computes it', async () => {
    const packs = await usable();
    expect(packs.analyzer?.dir).toBe(join(dir, 'analyzer'));
    for (const engine of ENGINES)
      expect(packs.engines.get(engine)?.version).toMatch(new RegExp(`^builtin-${engine}@`));
  });

  test('a missing pack makes its engine unavailable and the log says so', async () => {
    await rm(join(dir, 'builtin-musetalk'), { recursive: true });
    const warnings: unknown[] = [];
    const logger = {
      ...silent,
      warn: (message: string, fields?: object) => warnings.push([message, fields]),
    };
    expect((await usable(logger)).engines.has('musetalk')).toBe(false);
    expect(warnings).toContainEqual(['engine unavailable: no usable model pack', { engine: 'musetalk' }]);
  });

  test('without the face analyzer nothing can be served', async () => {
    await rm(join(dir, 'analyzer'), { recursive: true });
    const packs = await usable();
    expect(packs.analyzer).toBeUndefined();
    expect(packs.engines.size).toBe(0);
  });

  test('a graph with one changed byte is refused', async () => {
    await appendFile(join(dir, 'builtin-musetalk', 'unet.onnx'), '!');
    expect((await usable()).engines.has('musetalk')).toBe(false);
  });

  test('a manifest that promises another shape than its graph has is refused', async () => {
    await rewriteManifest('builtin-musetalk', /"dims":\s*\[\s*1,\s*80,\s*3000\s*\]/, '"dims": [1, 80, 1500]');
    expect((await usable()).engines.has('musetalk')).toBe(false);
  });

  test('a graph that computes something else than recorded is refused', async () => {
    await rewriteManifest('analyzer', /"points":\s*0\.49956/, '"points": 0.25');
    expect((await usable()).analyzer).toBeUndefined();
  });

  test('a pack of the operator wins over the built-in one for the same engine', async () => {
    await cp(join(dir, 'builtin-musetalk'), join(dir, 'official'), { recursive: true });
    await rewriteManifest('official', '"builtin-musetalk"', '"official"');
    expect((await usable()).engines.get('musetalk')?.dir).toBe(join(dir, 'official'));
  });

  test('an engine that is not wanted is not served although its pack is good', async () => {
    const packs = await verifyPacks(await findPacks(dir), [], host, silent);
    expect(packs.analyzer).toBeDefined();
    expect(packs.engines.size).toBe(0);
  });

  test('a pack that is still being written is not looked at', async () => {
    await cp(join(dir, 'builtin-musetalk'), join(dir, '.official-x1y2'), { recursive: true });
    await rm(join(dir, '.official-x1y2', 'unet.onnx'));
    expect((await findPacks(dir)).problems).toEqual([]);
  });
});
