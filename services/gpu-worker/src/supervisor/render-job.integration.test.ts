import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/engines';
import { findPacks } from '../host/find-packs';
import { createInferenceHost, type InferenceHost } from '../host/inference-host';
import { COMPILED_CHILD } from '../test/compiled';
import { createRenderFixture, type RenderFixture } from '../test/render-fixture';
import { createTestWorkers, type TestWorkers } from '../test/test-workers';

describe('a render whose output quality cannot be measured', () => {
  let folder: string;
  let fixture: RenderFixture;
  let host: InferenceHost;
  let workers: TestWorkers;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unjudged-'));
    await buildBuiltinPacks(join(folder, 'packs'));
    fixture = await createRenderFixture(folder);
    host = createInferenceHost({ entry: COMPILED_CHILD });
    const packs = await findPacks(join(folder, 'packs'));
    workers = createTestWorkers({ fixture, packs, hosts: [host], broken: host, folder });
  }, 60_000);
  afterAll(async () => {
    host.kill();
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('completes without the missing measurements, with the reason in the log', async () => {
    await rm(join(folder, 'packs/analyzer/landmarks68.onnx'));
    const facts = await workers.perform(await fixture.render({ audio: 'short', prepared: true }));
    expect(facts).toMatchObject({
      outcome: 'completed',
      quality: {
        syncCorrelation: null,
        syncLagFrames: null,
        facelessShare: 0,
        sampledFrames: 15,
        problem: expect.stringContaining('landmarks68') as string,
      },
    });
    expect(workers.warnings()).toEqual(['the output could not be judged']);
  }, 60_000);
});
