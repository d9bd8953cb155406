import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { ENGINES } from '@lipsync/contract';
import { MANIFEST_FILE } from '@lipsync/model-pack';
import { createLogger } from '@lipsync/runtime';
import { testFolder } from '@lipsync/testkit';
import { verifyPacks } from '../supervisor/verify-packs';
import { COMPILED_CHILD } from '../test/real-child';
import { findPacks } from './find-packs';
import { createInferenceHost, type InferenceHost } from './inference-host';

describe('packs at start', () => {
  const at = testFolder();
  let host: InferenceHost;

  beforeAll(async () => {
    await buildBuiltinPacks(at('good'));
    host = createInferenceHost({ entry: COMPILED_CHILD });
  });
  afterAll(() => host.kill());

  test('the built-in packs pass: every graph loads, declares what its manifest says and computes it', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const packs = await verifyPacks(await findPacks(at('good')), ENGINES, host, logger);
    expect(packs.analyzer?.dir).toBe(at('good/analyzer'));
    for (const engine of ENGINES)
      expect(packs.engines.get(engine)?.version).toMatch(new RegExp(`^builtin-${engine}@`));
  });

  test('a pack whose manifest records something else than its graph computes is refused', async () => {
    const dir = at('altered');
    await cp(at('good/analyzer'), dir, { recursive: true });
    const manifest = await readFile(join(dir, MANIFEST_FILE), 'utf8');
    const altered = manifest.replace(/"points":\s*0\.49956/, '"points": 0.25');
    expect(altered).not.toBe(manifest);
    await writeFile(join(dir, MANIFEST_FILE), altered);
    const { packs } = await host.verify({ jobId: 'altered', packDirs: [dir] });
    const problem = expect.stringContaining("the mean of 'points' is 0.4") as string;
    expect(packs).toEqual([{ packDir: dir, problem }]);
  });
});
